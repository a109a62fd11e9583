#include "base/error.h"
#include "engine/model/config_values.h"
#include "engine/model/ngram.h"

namespace paceline {

nlohmann::ordered_json NgramModel::config() const {
  return {{"model", "ngram"},
          {"dim", options_.dim},
          {"ngrams", options_.ngrams},
          {"buckets", options_.buckets},
          {"max_length", max_length_}};
}

NgramOptions ngram_options_from_json(const nlohmann::json& config) {
  return {config_count(config, "dim", 1, 1024), config_count(config, "ngrams", 1, 5),
          config_count(config, "buckets", 1, uint64_t{1} << 28)};
}

void check_ngram_file(const NgramOptions& options, const Task& task, const fs::path& file) {
  const uint64_t rows = task.tokenizer.vocabulary_size + (options.ngrams > 1 ? options.buckets : 0);
  const uint64_t bytes = rows * options.dim * sizeof(float);
  if (fs::file_size(file) < bytes)
    input_error("{}: {} bytes, but config.json describes a table of {} x {} numbers ({} bytes)",
                file.string(), fs::file_size(file), rows, options.dim, bytes);
}

std::vector<TensorView> NgramModel::tensors() const {
  const uint64_t dim = options_.dim, width = dim + 1;
  return {{"embedding.weight", {rows_, dim}, table_.get(), rows_, dim, stride_},
          {"output.weight", {classes_, dim}, output_.data(), classes_, dim, width},
          {"output.bias", {classes_}, output_.data() + dim, classes_, 1, width}};
}

void NgramModel::load(const SafetensorsReader& reader) {
  const uint64_t dim = options_.dim, width = dim + 1;
  reader.read("embedding.weight", {rows_, dim}, table_.get(), dim, stride_);
  reader.read("output.weight", {classes_, dim}, output_.data(), dim, width);
  reader.read("output.bias", {classes_}, output_.data() + dim, 1, width);
}

// Rows of the table with their sums of squares, and the output layer with its own.
std::vector<TensorView> NgramModel::state() const {
  const uint64_t width = options_.dim + 1;
  return {{"table", {rows_, width}, table_.get(), rows_, width, stride_},
          {"output", {classes_, width}, output_.data(), classes_, width, width},
          {"output_squares", {classes_, width}, output_squares_.data(), classes_, width, width}};
}

void NgramModel::load_state(const SafetensorsReader& tensors, const nlohmann::json&) {
  const uint64_t width = options_.dim + 1;
  tensors.read("table", {rows_, width}, table_.get(), width, stride_);
  tensors.read("output", {classes_, width}, output_.data(), width, width);
  tensors.read("output_squares", {classes_, width}, output_squares_.data(), width, width);
}

uint64_t NgramModel::grain_bytes(uint64_t tokens, uint64_t samples) const {
  return tokens * options_.ngrams * 12 + samples * stride_ * sizeof(float);
}

}  // namespace paceline
