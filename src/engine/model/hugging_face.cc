#include "engine/model/hugging_face.h"

namespace paceline {
namespace {

nlohmann::ordered_json special_tokens() {
  return {{"cls_token", "[CLS]"},
          {"mask_token", "[MASK]"},
          {"pad_token", "[PAD]"},
          {"sep_token", "[SEP]"},
          {"unk_token", "[UNK]"}};
}

}  // namespace

void add_label_keys(const Task& task, nlohmann::ordered_json& config) {
  config["num_labels"] = task.classes.size();
  config["problem_type"] =
      task.labels == LabelKind::single ? "single_label_classification" : "multi_label_classification";
  auto &names = config["id2label"], &numbers = config["label2id"];
  for (size_t c = 0; c < task.classes.size(); ++c) {
    names[std::to_string(c)] = task.classes[c];
    numbers[task.classes[c]] = c;
  }
}

void write_tokenizer_files(const Task& task, const nlohmann::ordered_json& config, const fs::path& folder) {
  const WordPieceRules& rules = task.tokenizer.rules;
  nlohmann::ordered_json tokenizer = {{"tokenizer_class", "BertTokenizer"},
                                      {"do_lower_case", rules.lowercase},
                                      {"strip_accents", rules.strip_accents},
                                      {"tokenize_chinese_chars", rules.tokenize_chinese_chars},
                                      {"model_max_length", config.at("max_position_embeddings")}};
  tokenizer.update(special_tokens());
  write_file_atomically(folder / "tokenizer_config.json", tokenizer.dump(2) + "\n");
  write_file_atomically(folder / "special_tokens_map.json", special_tokens().dump(2) + "\n");
}

}  // namespace paceline
