#include "engine/api/options.h"

namespace paceline {

void declare_train_fields(FieldTable& table, TrainOptions& options) {
  table.group("What");
  table.text("data", &options.data, "Data set to train on.").named("DATASET").need();
  table.text("model", &options.model, "Kind of model.").one_of({"ngram"});
  table.text("out", &options.out, "Folder of the run; it must not exist yet.").named("RUN").need();
  table.group("Training");
  table.integer("seed", &options.seed, 0, UINT32_MAX,
                "Chooses the random numbers; the same seed gives the same bits.");
  table.integer("epochs", &options.epochs, 1, 100000, "Passes over the training data.");
  table.integer("steps", &options.steps, 0, uint64_t{1} << 40,
                "Stop after this many steps; 0: as many as the epochs have.");
  table.integer("batch-size", &options.batch_size, 1, 1 << 20,
                "Samples a step, over all executors together.");
  table.integer("grain-size", &options.grain_size, 1, 1 << 16, "Samples that an executor takes at a time.");
  table.integer("max-length", &options.max_length, 0, 1 << 24, "Tokens of a text that are used; 0: all.");
  table.real("learning-rate", &options.learning_rate, 1e-9, 100,
             "Step width of the optimizer (row-wise Adagrad).");
  table.text("schedule", &options.schedule, "How the learning rate goes on.").one_of({"constant", "linear"});
  table.integer("warmup", &options.warmup, 0, uint64_t{1} << 40,
                "Steps over which the learning rate rises to its value.");
  table.text(
      "class-weights", &options.class_weights,
      "Weight of each class in the loss: none, balanced, or numbers in the order of the classes (1,3.5).");
  table
      .integer("executors", &options.executors, 0, 4096,
               "Threads that compute; 0: all usable cores. The result does not depend on it.")
      .unrecorded();
  table.group("Model ngram");
  table.integer("dim", &options.ngram.dim, 1, 1024, "Width of the embeddings.");
  table.integer("ngrams", &options.ngram.ngrams, 1, 5,
                "Longest run of words that has an embedding of its own.");
  table.integer("buckets", &options.ngram.buckets, 1, uint64_t{1} << 28,
                "Embeddings that runs of two words and more share by a hash.");
}

}  // namespace paceline
