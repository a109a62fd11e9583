// Options of training as plain structs; the table of fields binds them to flags and keys.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/fields.h"

namespace paceline {

struct NgramOptions {
  uint64_t dim = 10;           // width of the embeddings
  uint64_t ngrams = 2;         // longest n-gram of words
  uint64_t buckets = 1 << 20;  // rows that n-grams of two words and more are hashed to
};

struct TrainOptions {
  std::string data, model = "ngram", out;
  uint64_t seed = 1;
  uint64_t epochs = 5, steps = 0;  // steps 0: as many as the epochs have
  uint64_t batch_size = 128;       // samples a step, whatever the number of executors
  uint64_t grain_size = 16;        // samples that one executor takes at a time
  uint64_t max_length = 0;         // tokens of a text that are used; 0: all
  double learning_rate = 0.2;
  std::string schedule = "linear";
  uint64_t warmup = 0;  // steps
  std::string class_weights = "none";
  uint64_t executors = 0;  // 0: all usable cores; does not change the result
  NgramOptions ngram;
};

// Binds every option of `train` to a field of the same name.
void declare_train_fields(FieldTable& table, TrainOptions& options);

}  // namespace paceline
