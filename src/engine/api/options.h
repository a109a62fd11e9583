// Options of training as plain structs; the table of fields binds them to flags and keys.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/fields.h"
#include "base/files.h"

namespace paceline {

struct NgramOptions {
  uint64_t dim = 10;           // width of the embeddings
  uint64_t ngrams = 2;         // longest n-gram of words
  uint64_t buckets = 1 << 20;  // rows that n-grams of two words and more are hashed to
};

struct LstmOptions {
  std::string cell = "lstm";               // or gru
  uint64_t embedding = 128, hidden = 128;  // widths
  uint64_t layers = 1;
  bool bidirectional = false;
  std::string pooling = "max";     // last, mean, max, attention
  double word_dropout = 0;         // whole words
  double embedding_dropout = 0.2;  // single values of the embeddings
  double recurrent_dropout = 0;    // of the state from step to step, one mask a sequence
  double layer_dropout = 0.3;      // between layers
  double output_dropout = 0.3;     // before the output layer
  double dropout = 0.3;            // sets the last two, unless they are given themselves
  std::string word_vectors;        // file of pretrained embeddings in text form
};

struct BertOptions {
  std::string init;  // model whose weights and shape are taken over
  uint64_t hidden = 256, layers = 4, heads = 4, intermediate = 1024;
  uint64_t positions = 512, types = 2, vocabulary = 0;  // 0: the data set's
  std::string activation = "gelu";                      // gelu_new, gelu_pytorch_tanh, relu
  double norm_epsilon = 1e-12, deviation = 0.02;        // of layer norms; of new weights
  double hidden_dropout = 0.1, attention_dropout = 0.1, classifier_dropout = 0.1;
  double piece_dropout = 0;        // of a text with a label, pieces that are shown as [MASK]
  uint64_t freeze = 0;             // lowest layers that do not learn, and with them the embeddings
  double layer_decay = 1;          // a layer's learning rate as a share of that of the layer above it
  bool recompute = false;          // layers are computed again in the backward pass instead of kept
  bool whole_words = false;        // without labels: all pieces of a word are masked together
  std::vector<std::string> given;  // names of those of these options that the user gave
};

struct TrainOptions {
  std::string data, model = "ngram", out;
  uint64_t seed = 1;
  uint64_t epochs = 5, steps = 0;  // steps 0: as many as the epochs have
  double max_time = 0;             // minutes; 0: no limit
  uint64_t batch_size = 128;       // samples a step, whatever the number of executors
  uint64_t grain_size = 16;        // samples of a grain, on average
  uint64_t grain_tokens = 16384;   // most tokens of a grain; a longer text is a grain of its own
  uint64_t bucket_batches = 1;     // batches whose samples are sorted by length together; 1: none are
  uint64_t max_length = 0;         // tokens of a text that are used; 0: all

  std::string optimizer = "adagrad";  // adam, adamw, sgd; ngram has its own, adagrad
  double learning_rate = 0.2;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw
  double momentum = 0.9;                              // sgd
  double weight_decay = 0;
  std::string embedding_update = "lazy";  // or dense: every row moves in every step, as in PyTorch
  std::string schedule = "linear";        // constant, linear, cosine, noam
  uint64_t warmup = 0;                    // steps
  uint64_t schedule_steps = 0;            // steps over which it runs; 0: all of the run
  double clip = 0;                        // largest norm of the gradient; 0: any
  double ema = 0;                         // decay of the averaged weights; 0: none are kept
  std::string loss = "cross-entropy";     // or focal
  double focal_gamma = 2;
  std::string class_weights = "none";
  std::string sum = "exact";  // or float: plain float sums, whose bits depend on executors; for measuring

  uint64_t evaluate_every = 0;  // steps; 0: after every epoch
  uint64_t save_every = 0;      // steps; 0: every five minutes and at every evaluation
  uint64_t keep = 3;            // latest checkpoints that stay
  std::vector<std::string>
      stop_on;                      // metrics; the first chooses the model that is kept; empty: the usual one
  std::string stop_when = "first";  // first, any, all of them stopped improving
  uint64_t patience = 0;            // evaluations without improvement; 0: never stop early

  bool resume = false, detach = false;
  uint64_t executors = 0;  // of each worker; 0: its share of the usable cores; does not change the result

  std::string device = "cpu";         // or cuda: one GPU a worker
  uint64_t device_number = 0;         // of cuda; each worker's own, among those of its machine
  std::string kernels = "fused";      // or aten: LibTorch's operations, as on other devices
  std::string precision = "float32";  // or bfloat16: of the factors of products, which aten computes

  uint64_t workers = 1;            // processes
  std::vector<std::string> hosts;  // "a:2": two workers on a; empty: all of them on this machine
  std::string pace = "pull";       // even, epoch, interval, pull
  uint64_t pace_interval = 5;      // steps between changes of shares, interval
  uint64_t port = 0;               // of rank 0's counter; 0: any free one
  bool portable_bits = false;      // pins all workers to the kernels that every machine has
  bool no_exchange = false;        // gradients stay where they are; for measuring
  std::vector<std::string> slow;   // "1:0.4": worker 1 rests until it has 0.4 of its speed; for trying
  NgramOptions ngram;
  LstmOptions lstm;
  BertOptions bert;
};

// The argument with which paceline tries bfloat16, as a child of a training that asks for it.
inline constexpr const char* bfloat16_trial = "--try-bfloat16";

// Binds every option of `train` to a field of the same name.
void declare_train_fields(FieldTable& table, TrainOptions& options);

// To be called when the table was filled: sets what follows from other options. Throws InputError for an
// option of another model than the one named.
void resolve_train_fields(FieldTable& table, TrainOptions& options);

// The options that a run was started with: its config.yaml, over the defaults of its model. Throws
// InputError when the folder is missing or is not that of a run.
TrainOptions read_run_options(const fs::path& run);
// Whether two runs that differ in this key alone may have different bits up to the step where the
// shorter one ends.
bool changes_bits(const std::string& key);

// The defaults of a kind of model. Throws InputError when there is no such kind.
TrainOptions default_train_options(const std::string& model);

}  // namespace paceline
