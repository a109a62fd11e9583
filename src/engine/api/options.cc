#include "engine/api/options.h"

#include <algorithm>

#include "base/error.h"
#include "engine/score/metrics.h"

namespace paceline {
namespace {

constexpr uint64_t most_steps = uint64_t{1} << 40;
constexpr uint64_t gpu_grain = 64;  // samples; a GPU needs larger grains than a core to be busy

using Names = std::vector<std::string>;
bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void declare_what(FieldTable& table, TrainOptions& options) {
  table.group("What");
  table.text("data", &options.data, "Data set to train on.").named("DATASET").need();
  table.text("model", &options.model, "Kind of model; defaults below are those of the kind named.")
      .one_of({"ngram", "lstm", "bert"});
  table.text("out", &options.out, "Folder of the run; it must not exist yet, except with --resume.")
      .named("RUN")
      .need();
  table
      .flag("resume", &options.resume,
            "Go on with the run at --out from its last checkpoint; more --epochs or --steps extend it.")
      .unrecorded();
  table.flag("detach", &options.detach, "Leave the terminal and go on in the background.").unrecorded();
}

void declare_length(FieldTable& table, TrainOptions& options) {
  table.group("Length of the run");
  table.integer("epochs", &options.epochs, 1, 100000, "Passes over the training data.");
  table.integer("steps", &options.steps, 0, most_steps,
                "Stop after this many steps; 0: as many as the epochs have.");
  table.real("max-time", &options.max_time, 0, 1e7,
             "Minutes after which to stop; 0: any. The step is recorded.");
  table.integer("patience", &options.patience, 0, 1 << 20,
                "Evaluations without improvement after which to stop; 0: never stop early.");
  table
      .list("stop-on", &options.stop_on,
            "Metrics on the split valid that should improve; the first chooses the model that is kept. By "
            "default macro_f1, or perplexity where there are no labels.")
      .one_of(metric_names());
  table.text("stop-when", &options.stop_when, "Which of several metrics must have stopped improving.")
      .one_of({"first", "any", "all"});
  table.integer("evaluate-every", &options.evaluate_every, 0, most_steps,
                "Steps between evaluations; 0: after every epoch.");
  table.integer("save-every", &options.save_every, 0, most_steps,
                "Steps between checkpoints; 0: every five minutes and at every evaluation.");
  table.integer("keep", &options.keep, 1, 1 << 20, "Latest checkpoints that stay, besides the best.");
}

void declare_batches(FieldTable& table, TrainOptions& options) {
  table.group("Batches");
  table.integer("seed", &options.seed, 0, UINT32_MAX,
                "Chooses the random numbers; the same seed gives the same bits.");
  table.integer("batch-size", &options.batch_size, 1, 1 << 20,
                "Samples a step, over all executors together.");
  table.integer("grain-size", &options.grain_size, 1, 1 << 16,
                "Samples of a grain, which is what an executor takes at least, on average.");
  table.integer("grain-tokens", &options.grain_tokens, 1, 1 << 28,
                "Most tokens of a grain; a longer text is a grain of its own.");
  table.integer("bucket-batches", &options.bucket_batches, 1, 1 << 12,
                "Batches whose samples are sorted by length together; 1: none are.");
  table.integer("max-length", &options.max_length, 0, 1 << 24, "Tokens of a text that are used; 0: all.");
  table
      .integer("executors", &options.executors, 0, 4096,
               "Threads of a worker that compute; 0: its share of the usable cores.")
      .unrecorded();
}

// Of these, device, kernels, precision and portable-bits change the result; no-exchange spoils it.
void declare_workers(FieldTable& table, TrainOptions& options) {
  table.group("Workers");
  table.integer("workers", &options.workers, 1, 4096, "Processes that share the work on this machine.")
      .unrecorded();
  table
      .list("hosts", &options.hosts,
            "Machines that share the work, reached over ssh, and how many workers each has.")
      .named("HOST:N,...")
      .unrecorded();
  table.text("device", &options.device, "What grains are computed on; cuda: one GPU for each worker.")
      .one_of({"cpu", "cuda"});
  table.text("kernels", &options.kernels, "Own loops, or LibTorch's operations.").one_of({"fused", "aten"});
  table
      .text("precision", &options.precision,
            "Numbers that are multiplied; bfloat16: LibTorch's, tried out before, and sums stay float32.")
      .one_of({"float32", "bfloat16"});
  table.text("pace", &options.pace, "Who takes which grain; pull: whoever is free takes the next one.")
      .one_of({"even", "epoch", "interval", "pull"})
      .unrecorded();
  table
      .integer("pace-interval", &options.pace_interval, 1, 1 << 20,
               "Steps between changes of the shares, --pace interval.")
      .unrecorded();
  table.integer("port", &options.port, 0, 65535, "Where rank 0 is asked for grains; 0: any free port.")
      .unrecorded();
  table.flag("portable-bits", &options.portable_bits,
             "Compute with what every processor has, so that unlike ones give the same bits; slower.");
  table
      .flag("no-exchange", &options.no_exchange,
            "Keep gradients where they are: the result is useless, but shows what the exchange costs.")
      .unrecorded();
  table
      .list("slow", &options.slow,
            "Workers that rest after every grain until they have this share of their speed: to try it out.")
      .named("RANK:SHARE,...")
      .unrecorded();
}

void declare_learning(FieldTable& table, TrainOptions& options) {
  table.group("Learning");
  table.text("optimizer", &options.optimizer, "How gradients change weights; ngram has its own, adagrad.")
      .one_of({"adagrad", "adam", "adamw", "sgd"});
  table.real("learning-rate", &options.learning_rate, 1e-9, 100, "Step width of the optimizer.");
  table.text("schedule", &options.schedule, "How the learning rate goes on.")
      .one_of({"constant", "linear", "cosine", "noam"});
  table.integer("warmup", &options.warmup, 0, most_steps,
                "Steps over which the learning rate rises to its value.");
  table.integer("schedule-steps", &options.schedule_steps, 0, most_steps,
                "Steps over which the schedule runs; 0: all of the run.");
  table.text(
      "class-weights", &options.class_weights,
      "Weight of each class in the loss: none, balanced, or numbers in the order of the classes (1,3.5).");
  table.text("loss", &options.loss, "What is made small.").one_of({"cross-entropy", "focal"});
  table.real("focal-gamma", &options.focal_gamma, 0, 20, "How much focal turns away from easy samples.");
  table.real("clip", &options.clip, 0, 1e9, "Largest norm of the gradient; 0: any.");
  table.real("beta1", &options.beta1, 0, 0.999999, "Decay of the mean, adam and adamw.");
  table.real("beta2", &options.beta2, 0, 0.9999999, "Decay of the mean square, adam and adamw.");
  table.real("epsilon", &options.epsilon, 1e-30, 1, "Added to the root of the mean square, adam and adamw.");
  table.real("momentum", &options.momentum, 0, 0.999999, "Of sgd.");
  table.real("weight-decay", &options.weight_decay, 0, 10, "How fast weights shrink.");
  table
      .text("embedding-update", &options.embedding_update,
            "Which rows of an embedding move: those in the batch, or all.")
      .one_of({"lazy", "dense"});
  table.real("ema", &options.ema, 0, 0.9999999, "Decay of the averaged weights that are kept; 0: none.");
  table
      .text("sum", &options.sum,
            "How gradients are added; the bits of float depend on the executors, it is there for measuring.")
      .one_of({"exact", "float"});
}

void declare_ngram(FieldTable& table, NgramOptions& ngram) {
  table.group("Model ngram");
  table.integer("dim", &ngram.dim, 1, 1024, "Width of the embeddings.");
  table.integer("ngrams", &ngram.ngrams, 1, 5, "Longest run of words that has an embedding of its own.");
  table.integer("buckets", &ngram.buckets, 1, uint64_t{1} << 28,
                "Embeddings that runs of two words and more share by a hash.");
}

void declare_lstm(FieldTable& table, LstmOptions& lstm) {
  table.group("Model lstm");
  table.text("cell", &lstm.cell, "Kind of recurrent cell.").one_of({"lstm", "gru"});
  table.integer("embedding", &lstm.embedding, 1, 8192, "Width of the embeddings.");
  table.integer("hidden", &lstm.hidden, 1, 8192, "Width of the state, in each direction.");
  table.integer("layers", &lstm.layers, 1, 64, "Recurrent layers.");
  table.flag("bidirectional", &lstm.bidirectional, "Read texts in both directions.");
  table.text("pooling", &lstm.pooling, "How the states of a text become one.")
      .one_of({"last", "mean", "max", "attention"});
  table
      .real("dropout", &lstm.dropout, 0, 0.99,
            "Sets --layer-dropout and --output-dropout, unless they are given themselves.")
      .unrecorded();
  table.real("word-dropout", &lstm.word_dropout, 0, 0.99, "Share of words that are left out.");
  table.real("embedding-dropout", &lstm.embedding_dropout, 0, 0.99, "Share of embeddings' values.");
  table.real("recurrent-dropout", &lstm.recurrent_dropout, 0, 0.99,
             "Share of the state's values from word to word, the same for a whole text.");
  table.real("layer-dropout", &lstm.layer_dropout, 0, 0.99, "Share of values between layers.");
  table.real("output-dropout", &lstm.output_dropout, 0, 0.99, "Share of values before the output layer.");
  table.text("word-vectors", &lstm.word_vectors, "File of pretrained embeddings in text form.").named("FILE");
}

void declare_bert(FieldTable& table, BertOptions& bert) {
  table.group("Model bert");
  table.text("init", &bert.init, "Model whose shape and weights training starts from.").named("MODEL");
  table.integer("bert-hidden", &bert.hidden, 1, 16384,
                "Width of the hidden states; a multiple of the heads.");
  table.integer("bert-layers", &bert.layers, 1, 256, "Layers of the encoder.");
  table.integer("heads", &bert.heads, 1, 1024, "Heads of the attention.");
  table.integer("intermediate", &bert.intermediate, 1, 1 << 17, "Width inside the feed-forward parts.");
  table.integer("positions", &bert.positions, 2, 1 << 20, "Most tokens of a text that the model can see.");
  table.integer("types", &bert.types, 1, 16, "Kinds of token: the first and the second text of a pair.");
  table.integer("bert-vocabulary", &bert.vocabulary, 0, 1 << 24, "Rows of the embedding; 0: the data set's.");
  table.text("activation", &bert.activation, "Function inside the feed-forward parts.")
      .one_of({"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"});
  table.real("norm-epsilon", &bert.norm_epsilon, 1e-20, 1, "Added to the variance in layer norms.");
  table.real("deviation", &bert.deviation, 0, 10, "Standard deviation of new weights.");
  table.real("hidden-dropout", &bert.hidden_dropout, 0, 0.99, "Share of values after each part of a layer.");
  table.real("attention-dropout", &bert.attention_dropout, 0, 0.99, "Share of the attention's weights.");
  table.real("classifier-dropout", &bert.classifier_dropout, 0, 0.99,
             "Share of values before the classifier.");
  table.real("piece-dropout", &bert.piece_dropout, 0, 0.99,
             "Share of a labelled text's pieces that training shows as [MASK].");
  table.integer("freeze", &bert.freeze, 0, 256,
                "Lowest layers that do not learn, and the embeddings with them; 0: all learn.");
  table.real("layer-decay", &bert.layer_decay, 0.01, 1,
             "A layer's learning rate as a share of that of the layer above it.");
  table.flag("whole-words", &bert.whole_words,
             "Without labels: mask all pieces of a word together, not piece by piece.");
  table.flag("recompute", &bert.recompute, "Compute layers again in the backward pass: less memory, slower.")
      .unrecorded();
}

// What the optimizer of ngram has no use for.
const Names of_tensor_models = {
    "loss",         "focal-gamma",      "clip", "beta1", "beta2",   "epsilon",  "momentum",
    "weight-decay", "embedding-update", "ema",  "sum",   "kernels", "precision"};

bool applies(const Field& field, const std::string& model) {
  if (field.group.starts_with("Model ")) return field.group == "Model " + model;
  return model != "ngram" || !contains(of_tensor_models, field.name);
}

}  // namespace

void declare_train_fields(FieldTable& table, TrainOptions& options) {
  declare_what(table, options);
  declare_length(table, options);
  declare_batches(table, options);
  declare_learning(table, options);
  declare_workers(table, options);
  declare_ngram(table, options.ngram);
  declare_lstm(table, options.lstm);
  declare_bert(table, options.bert);
  for (auto& field : table.fields())
    if (!applies(field, options.model)) field.recorded = false;
}

void resolve_train_fields(FieldTable& table, TrainOptions& options) {
  for (const auto& field : table.fields())
    if (field.is_set && !applies(field, options.model))
      input_error("--{}: --model {} has no such option; leave it out", field.name, options.model);
  if (options.precision == "bfloat16") {
    if (table.find("kernels")->is_set && options.kernels != "aten")
      input_error("--precision bfloat16 is LibTorch's; leave --kernels {} out", options.kernels);
    options.kernels = "aten";
  }
  if (options.device == "cuda") {
    if (options.model == "ngram")
      input_error("--device cuda: --model {} is made for CPUs; leave --device out", options.model);
    if (table.find("kernels")->is_set && options.kernels != "aten")
      input_error("--device cuda computes with LibTorch; leave --kernels {} out", options.kernels);
    options.kernels = "aten";
    options.executors = 1;
    if (!table.find("grain-size")->is_set) options.grain_size = std::min(options.batch_size, gpu_grain);
  }
  for (const auto& field : table.fields())
    if (field.is_set && field.group == "Model bert") options.bert.given.push_back(field.name);
  if (!table.find("dropout")->is_set) return;
  if (!table.find("layer-dropout")->is_set) options.lstm.layer_dropout = options.lstm.dropout;
  if (!table.find("output-dropout")->is_set) options.lstm.output_dropout = options.lstm.dropout;
}

TrainOptions read_run_options(const fs::path& run) {
  std::error_code ignored;
  const fs::path file = run / "config.yaml";
  if (!fs::exists(run, ignored))
    input_error("--resume: there is no run {}; leave --resume out to begin it", run.string());
  if (!fs::is_regular_file(file, ignored))
    input_error("--resume: {} is not the folder of a run (it has no config.yaml)", run.string());
  const std::string yaml = read_file(file, 16 << 20);
  TrainOptions any;
  FieldTable all;
  declare_train_fields(all, any);
  from_yaml(all, yaml, file.string());
  TrainOptions options = default_train_options(any.model);
  FieldTable table;
  declare_train_fields(table, options);
  from_yaml(table, yaml, file.string());
  return options;
}

bool changes_bits(const std::string& key) {
  static const Names free = {"data",       "out",  "epochs",   "steps",   "schedule-steps", "max-time",
                             "save-every", "keep", "patience", "stop-on", "stop-when"};
  return !contains(free, key);
}

TrainOptions default_train_options(const std::string& model) {
  TrainOptions options;
  options.model = model;
  if (model == "ngram") return options;
  if (model == "bert") {
    options.epochs = 3;
    options.batch_size = 32;
    options.grain_size = 4;
    options.bucket_batches = 32;
    options.optimizer = "adamw";
    options.learning_rate = 5e-5;
    options.weight_decay = 0.01;
    options.embedding_update = "dense";
    options.schedule = "linear";
    options.clip = 1;
    return options;
  }
  if (model != "lstm") input_error("--model: '{}' is not one of ngram, lstm, bert", model);
  options.epochs = 4;
  options.batch_size = 64;
  options.grain_size = 4;  // small enough that unequal workers share 64 samples well (docs/measurements.md)
  options.bucket_batches = 32;
  options.optimizer = "adam";
  options.learning_rate = 0.002;
  options.schedule = "linear";
  options.clip = 1;
  return options;
}

}  // namespace paceline
