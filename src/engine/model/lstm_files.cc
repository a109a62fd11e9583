#include "base/error.h"
#include "engine/model/config_values.h"
#include "engine/model/lstm.h"

namespace paceline {
nlohmann::ordered_json LstmModel::config() const {
  const LstmOptions& o = options_.lstm;
  return {{"model", "lstm"},          {"cell", o.cell},
          {"embedding", o.embedding}, {"hidden", o.hidden},
          {"layers", o.layers},       {"bidirectional", o.bidirectional},
          {"pooling", o.pooling},     {"max_length", options_.max_length}};
}

LstmOptions lstm_options_from_json(const nlohmann::json& config) {
  LstmOptions o;
  o.cell = config_choice(config, "cell", {"lstm", "gru"});
  o.embedding = config_count(config, "embedding", 1, 8192);
  o.hidden = config_count(config, "hidden", 1, 8192);
  o.layers = config_count(config, "layers", 1, 64);
  config.at("bidirectional").get_to(o.bidirectional);
  o.pooling = config_choice(config, "pooling", {"last", "mean", "max", "attention"});
  return o;
}

void check_lstm_file(const LstmOptions& o, const Task& task, const fs::path& file) {
  const uint64_t gates = (o.cell == "lstm" ? 4 : 3) * o.hidden, directions = o.bidirectional ? 2 : 1;
  uint64_t numbers = task.tokenizer.vocabulary_size * o.embedding;
  for (uint64_t layer = 0; layer < o.layers; ++layer)
    numbers += directions * gates * ((layer == 0 ? o.embedding : o.hidden * directions) + o.hidden + 2);
  numbers += task.classes.size() * (o.hidden * directions + 1);
  if (fs::file_size(file) < numbers * sizeof(float))
    input_error("{}: {} bytes, but config.json describes {} numbers ({} bytes)", file.string(),
                fs::file_size(file), numbers, numbers * sizeof(float));
}

}  // namespace paceline
