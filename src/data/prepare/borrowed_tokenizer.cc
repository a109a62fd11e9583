#include "data/prepare/borrowed_tokenizer.h"

#include "base/error.h"
#include "data/text/segments.h"

namespace paceline {
namespace {

constexpr uint64_t max_json_bytes = 64 << 20;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

nlohmann::json read_json(const fs::path& file) {
  auto value = nlohmann::json::parse(read_file(file, max_json_bytes), nullptr, false);
  if (!value.is_object()) input_error("{}: not a JSON object", file.string());
  return value;
}

// A value of tokenizer_config.json: true, false, or nothing.
std::optional<bool> flag_in(const nlohmann::json& config, const char* key, const fs::path& file) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) input_error("{}: '{}' is neither true nor false", file.string(), key);
  return found->get<bool>();
}

// Another name for a special piece would give other ids, and no one would notice.
void check_special(const nlohmann::json& config, const fs::path& file) {
  const std::pair<const char*, const char*> names[] = {{"unk_token", "[UNK]"},
                                                       {"cls_token", "[CLS]"},
                                                       {"sep_token", "[SEP]"},
                                                       {"pad_token", "[PAD]"},
                                                       {"mask_token", "[MASK]"}};
  for (const auto& [key, expected] : names) {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) continue;
    const nlohmann::json& token =
        found->is_object() && found->contains("content") ? (*found)["content"] : *found;
    if (!token.is_string() || token.get<std::string>() != expected)
      input_error("{}: its {} is {}; only BERT's {} is known", file.string(), key, token.dump(), expected);
  }
}

WordPieceRules rules_of_bert(const fs::path& file) {
  const auto config = read_json(file);
  check_special(config, file);
  if (!flag_in(config, "do_basic_tokenize", file).value_or(true))
    input_error("{}: do_basic_tokenize is false; only tokenizers that split into words first are known",
                file.string());
  WordPieceRules rules;
  rules.lowercase = flag_in(config, "do_lower_case", file).value_or(true);
  rules.strip_accents = flag_in(config, "strip_accents", file).value_or(rules.lowercase);
  rules.tokenize_chinese_chars = flag_in(config, "tokenize_chinese_chars", file).value_or(true);
  return rules;
}

// As dataset.json or a model's config.json of this program describes it.
WordPieceRules rules_of_ours(const fs::path& file, const nlohmann::json& description) {
  TokenizerInfo info;
  try {
    info = tokenizer_from_json(description.at("tokenizer"));
  } catch (const std::exception& problem) {
    input_error("{}: {}", file.string(), problem.what());
  }
  if (!info.is_wordpiece())
    input_error("{}: its tokenizer is {}; leave out --tokenizer wordpiece", file.string(), info.kind);
  return info.rules;
}

struct Found {
  WordPieceRules rules;
  fs::path where;  // the file that says so; empty: none does
};

Found rules_beside(const fs::path& folder) {
  for (const char* name : {"dataset.json", "config.json"}) {
    const fs::path file = folder / name;
    if (!is_file(file)) continue;
    const auto description = read_json(file);
    const auto format = description.find("format");
    if (format != description.end() && format->is_string() &&
        format->get<std::string>().starts_with("paceline-"))
      return {rules_of_ours(file, description), file};
  }
  if (const fs::path file = folder / "tokenizer_config.json"; is_file(file))
    return {rules_of_bert(file), file};
  return {};
}

}  // namespace

void check_tokenizer_options(const PrepareOptions& options) {
  if (options.keep_html && options.clean_html) input_error("--keep-html and --clean-html: give one of them");
  if (options.tokenizer == "wordpiece") {
    if (options.tokenizer_from.empty())
      input_error(
          "--tokenizer wordpiece needs --tokenizer-from: a vocab.txt, or a folder of a BERT model, of a data "
          "set or "
          "of a run that has one");
    const uint64_t least = options.text_pair.empty() ? special_of_one + 1 : special_of_two + 2;
    if (options.max_length < least)
      input_error("--max-length {}: [CLS], [SEP] and a piece of each text need at least {}",
                  options.max_length, least);
    if (options.pack && !options.label.empty())
      input_error("--pack: a row of several texts has no label; leave out --pack, or --label {}",
                  options.label);
    if (options.pack && !options.text_pair.empty())
      input_error("--pack: a row of several texts has no second text; leave out --pack, or --text-pair {}",
                  options.text_pair);
    return;
  }
  if (options.cased) input_error("--cased is for --tokenizer wordpiece");
  if (options.pack) input_error("--pack is for --tokenizer wordpiece");
  if (!options.text_pair.empty())
    input_error("--text-pair {}: pairs of texts need --tokenizer wordpiece", options.text_pair);
}

Vocabulary borrowed_vocabulary(const std::string& from) {
  const fs::path folder = from;
  for (const fs::path& file : {folder / "vocab.txt", folder / "model" / "vocab.txt"}) {
    std::error_code ignored;
    if (fs::exists(file, ignored)) return Vocabulary::load(file);
  }
  input_error("--tokenizer-from {}: it has no vocab.txt; name a data set, a run or a model", from);
}

std::unique_ptr<WordPiece> borrowed_wordpiece(const std::string& from, bool cased) {
  fs::path file = from;
  if (!is_file(file)) {
    file = fs::path(from) / "vocab.txt";
    if (!is_file(file)) file = fs::path(from) / "model" / "vocab.txt";
  }
  if (!is_file(file))
    input_error(
        "--tokenizer-from {}: neither a vocab.txt nor a folder with one; name the vocabulary of a BERT model",
        from);
  Found found = rules_beside(file.parent_path());
  if (cased && !found.where.empty() && found.rules.lowercase)
    input_error("--cased: {} says that letters become small; leave out --cased", found.where.string());
  if (cased && found.where.empty()) found.rules = WordPieceRules::cased();
  return std::make_unique<WordPiece>(Vocabulary::load_pieces(file), found.rules);
}

}  // namespace paceline
