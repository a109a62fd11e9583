#include "engine/model/bert_shapes.h"

#include "base/error.h"
#include "engine/model/tensor_file.h"

namespace paceline {
namespace {

struct Described {
  std::string tensor;
  const char* keys[2];  // of config.json, for rows and columns
  std::vector<uint64_t> shape;
};

std::string in_layer(uint64_t layer, const char* tensor) {
  return fmt::format("bert.encoder.layer.{}.{}", layer, tensor);
}

void check(const Described& described, const fs::path& config, const FindShape& find) {
  const std::vector<uint64_t>* found = find(described.tensor);
  if (found == nullptr)
    input_error("{}: there is no tensor '{}' among the weights, {} is described", config.string(),
                described.tensor, shape_text(described.shape));
  if (*found == described.shape) return;
  const bool rows_fit = found->size() == 2 && (*found)[0] == described.shape[0];
  input_error("{}: '{}' is {}, but the tensor '{}' is {}, not {}", config.string(), described.keys[rows_fit],
              described.shape[rows_fit], described.tensor, shape_text(*found), shape_text(described.shape));
}

}  // namespace

void check_bert_shapes(const BertOptions& o, const fs::path& config, const FindShape& find) {
  const std::string in = "bert.embeddings.";
  check({in + "word_embeddings.weight", {"vocab_size", "hidden_size"}, {o.vocabulary, o.hidden}}, config,
        find);
  check({in + "position_embeddings.weight",
         {"max_position_embeddings", "hidden_size"},
         {o.positions, o.hidden}},
        config, find);
  check({in + "token_type_embeddings.weight", {"type_vocab_size", "hidden_size"}, {o.types, o.hidden}},
        config, find);
  constexpr const char* inner = "intermediate.dense.weight";
  for (uint64_t layer = 0; layer < o.layers; ++layer) {
    check({in_layer(layer, "attention.self.query.weight"),
           {"hidden_size", "hidden_size"},
           {o.hidden, o.hidden}},
          config, find);
    check({in_layer(layer, inner), {"intermediate_size", "hidden_size"}, {o.intermediate, o.hidden}}, config,
          find);
  }
  if (const auto* beyond = find(in_layer(o.layers, inner)))
    input_error("{}: 'num_hidden_layers' is {}, but there is a tensor '{}' ({})", config.string(), o.layers,
                in_layer(o.layers, inner), shape_text(*beyond));
}

}  // namespace paceline
