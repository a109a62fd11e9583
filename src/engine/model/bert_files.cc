#include "base/error.h"
#include "engine/model/bert.h"
#include "engine/model/config_values.h"

namespace paceline {
namespace {

double number(const nlohmann::json& config, const char* key, double otherwise, double lowest,
              double highest) {
  if (!config.contains(key) || config.at(key).is_null()) return otherwise;
  const auto& value = config.at(key);
  if (!value.is_number() || !(value.get<double>() >= lowest && value.get<double>() <= highest))
    throw std::runtime_error(
        fmt::format("'{}' is {}, {} to {} is possible", key, value.dump(), lowest, highest));
  return value.get<double>();
}

uint64_t weights_of(const BertOptions& o, const Task& task) {
  const uint64_t layer =
      4 * o.hidden * (o.hidden + 1) + 2 * o.hidden * o.intermediate + o.intermediate + 5 * o.hidden;
  const uint64_t head =
      task.guesses_pieces() ? 2 * o.hidden + o.vocabulary : task.classes.size() * (o.hidden + 1);
  return (o.vocabulary + o.positions + o.types + 2) * o.hidden + o.layers * layer +
         o.hidden * (o.hidden + 1) + head;
}

}  // namespace

nlohmann::ordered_json BertModel::config() const {
  const BertOptions& o = options_.bert;
  return {{"model", "bert"},
          {"model_type", "bert"},
          {"architectures", {masked_ ? "BertForMaskedLM" : "BertForSequenceClassification"}},
          {"vocab_size", o.vocabulary},
          {"hidden_size", o.hidden},
          {"num_hidden_layers", o.layers},
          {"num_attention_heads", o.heads},
          {"intermediate_size", o.intermediate},
          {"hidden_act", o.activation},
          {"max_position_embeddings", o.positions},
          {"type_vocab_size", o.types},
          {"layer_norm_eps", o.norm_epsilon},
          {"initializer_range", o.deviation},
          {"hidden_dropout_prob", o.hidden_dropout},
          {"attention_probs_dropout_prob", o.attention_dropout},
          {"classifier_dropout", o.classifier_dropout},
          {"pad_token_id", 0},
          {"position_embedding_type", "absolute"},
          {"torch_dtype", "float32"},
          {"max_length", options_.max_length}};
}

BertOptions bert_options_from_json(const nlohmann::json& config) {
  BertOptions o;
  o.vocabulary = config_count(config, "vocab_size", 1, uint64_t{1} << 24);
  o.hidden = config_count(config, "hidden_size", 1, 16384);
  o.layers = config_count(config, "num_hidden_layers", 1, 256);
  o.heads = config_count(config, "num_attention_heads", 1, 1024);
  o.intermediate = config_count(config, "intermediate_size", 1, 1 << 17);
  o.positions = config_count(config, "max_position_embeddings", 2, 1 << 20);
  o.types = config.contains("type_vocab_size") ? config_count(config, "type_vocab_size", 1, 16) : 2;
  if (o.hidden % o.heads != 0)
    throw std::runtime_error(
        fmt::format("'hidden_size' {} is not a multiple of 'num_attention_heads' {}", o.hidden, o.heads));
  o.activation = config_choice(config, "hidden_act", {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"});
  if (config.value("position_embedding_type", "absolute") != "absolute")
    throw std::runtime_error("only 'position_embedding_type' absolute is known");
  o.norm_epsilon = number(config, "layer_norm_eps", o.norm_epsilon, 1e-20, 1);
  o.deviation = number(config, "initializer_range", o.deviation, 0, 10);
  o.hidden_dropout = number(config, "hidden_dropout_prob", o.hidden_dropout, 0, 0.99);
  o.attention_dropout = number(config, "attention_probs_dropout_prob", o.attention_dropout, 0, 0.99);
  o.classifier_dropout = number(config, "classifier_dropout", o.hidden_dropout, 0, 0.99);
  return o;
}

void check_bert_file(const BertOptions& options, const Task& task, const fs::path& file) {
  const uint64_t numbers = weights_of(options, task);
  if (fs::file_size(file) < numbers * sizeof(float))
    input_error("{}: {} bytes, but config.json describes {} numbers ({} bytes)", file.string(),
                fs::file_size(file), numbers, numbers * sizeof(float));
}

std::vector<TensorView> BertModel::tensors() const {
  std::vector<TensorView> views;
  for (const auto& p : store_.all()) {
    const uint64_t width = p.shape.back();
    views.push_back({p.name, p.shape, p.values, p.size() / width, width, width});
  }
  return views;
}

void BertModel::load(const SafetensorsReader& reader) {
  for (const auto& p : store_.all()) reader.read(p.name, p.shape, p.values, p.shape.back(), p.shape.back());
  weights_changed();
}

}  // namespace paceline
