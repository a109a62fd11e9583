// What a pretrained BERT needs beyond its files.
#include <algorithm>

#include "base/error.h"
#include "base/shortened.h"
#include "engine/model/bert.h"
#include "engine/model/pretrained.h"

namespace paceline {
namespace {

constexpr const char* words = "bert.embeddings.word_embeddings.weight";
constexpr uint64_t most_vocabulary_bytes = 256 << 20;

// What cannot be trained anew without losing what was learnt.
bool is_body(const std::string& name) {
  return name.starts_with("bert.embeddings.") || name.starts_with("bert.encoder.");
}

}  // namespace

BertOptions pretrained_bert_options(const PretrainedWeights& weights) {
  try {
    const nlohmann::json& config = weights.config();
    const auto kind = config.find("model_type");
    if (kind != config.end() && *kind != "bert")
      throw std::runtime_error(
          fmt::format("it is of a model of type {}, and only bert is known", shortened(kind->dump())));
    return bert_options_from_json(config);
  } catch (const std::exception& problem) {
    input_error("{}: {}", (weights.folder() / "config.json").string(), problem.what());
  }
}

std::vector<NewTensor> load_pretrained(std::span<const Parameter> parameters,
                                       const PretrainedWeights& weights) {
  std::vector<NewTensor> fresh;
  for (const Parameter& parameter : parameters) {
    const bool body = is_body(parameter.name);
    if (!body && !weights.has(parameter.name)) {
      fresh.push_back({parameter.name, "there is none"});
    } else if (!body && weights.shape(parameter.name) != parameter.shape) {
      fresh.push_back(
          {parameter.name, fmt::format("there it is {}, here {}", shape_text(weights.shape(parameter.name)),
                                       shape_text(parameter.shape))});
    } else {
      weights.read(parameter.name, parameter.shape, parameter.values);
    }
  }
  return fresh;
}

void check_pretrained_vocabulary(const PretrainedWeights& weights) {
  const fs::path path = weights.folder() / "vocab.txt";
  const std::string text = read_file(path, most_vocabulary_bytes);
  uint64_t lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  if (!text.empty() && text.back() != '\n') ++lines;
  const std::vector<uint64_t>& shape = weights.shape(words);
  if (shape.empty() || shape[0] != lines)
    input_error("{}: {} lines, but the embedding of words is {}; the two are not of the same model",
                path.string(), lines, shape_text(shape));
}

}  // namespace paceline
