// dataset.json: what a data set is and where it came from (docs/formats/dataset.md).
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/text/wordpiece_rules.h"

namespace paceline {

inline constexpr int dataset_version = 1;

// none: no labels; single: one class a row; multiple: a 0 or 1 for every class.
enum class LabelKind { none, single, multiple };

struct ShardInfo {
  std::string file;  // beside dataset.json
  uint64_t rows = 0, tokens = 0;
  std::string checksum;
};

struct SplitInfo {
  std::string name;  // "train", "valid" or "test"
  uint64_t rows = 0, tokens = 0;
  uint64_t longest = 0, unknown_tokens = 0;
  std::vector<uint64_t> class_rows;  // rows of each class
  std::vector<ShardInfo> shards;
  uint64_t truncated_rows = 0;  // rows whose text was cut by --max-length of prepare
};

struct InputInfo {
  std::string file, split;
  uint64_t records = 0;
};

struct TokenizerInfo {
  std::string kind = "word";  // or wordpiece
  int version = 1;
  WordPieceRules rules;     // of wordpiece
  uint64_t max_length = 0;  // of wordpiece: the longest row, with [CLS] and [SEP]; 0: any
  bool clean_html = true;
  std::string invalid_utf8 = "replace";
  std::string vocabulary = "vocab.txt";
  uint64_t vocabulary_size = 0;
  std::string vocabulary_hash;

  bool is_wordpiece() const { return kind == "wordpiece"; }
  // Whether a text becomes the same ids, as far as it is not cut and its HTML is left alone.
  bool gives_same_ids(const TokenizerInfo& other) const;
};

struct DatasetInfo {
  LabelKind labels = LabelKind::none;
  std::vector<std::string> classes;
  TokenizerInfo tokenizer;
  bool pairs = false;         // rows have two texts: [CLS] A [SEP] B [SEP]
  bool packed = false;        // rows are texts one after another, cut to tokenizer.max_length ids
  uint64_t fixed_length = 0;  // columns of the matrix "fixed"; 0: there is none
  std::vector<SplitInfo> splits;
  std::vector<InputInfo> inputs;
  std::map<std::string, uint64_t> rejects;  // reason -> records, all in rejects.jsonl
  uint64_t repaired_utf8 = 0;               // records in which broken UTF-8 was replaced
  nlohmann::ordered_json options;           // as given to prepare

  // Hash of everything that training sees (splits, labels, vocabulary); two data sets with the same one
  // are the same data.
  std::string fingerprint() const;
  // nullptr when there is none.
  const SplitInfo* find_split(std::string_view name) const;
  // Throws InputError that names the splits there are, also for a split without rows.
  const SplitInfo& split(std::string_view name, const fs::path& folder) const;
};

nlohmann::ordered_json tokenizer_json(const TokenizerInfo& tokenizer);
TokenizerInfo tokenizer_from_json(const nlohmann::json& value);

nlohmann::ordered_json to_json(const DatasetInfo& info);
// Reads and checks FOLDER/dataset.json. Throws InputError: not a data set, another version, numbers
// that do not add up, names that lead out of the folder.
DatasetInfo read_dataset_info(const fs::path& folder);
// The same for the text of a dataset.json; name is for messages.
DatasetInfo parse_dataset_info(const std::string& text, const std::string& name);

}  // namespace paceline
