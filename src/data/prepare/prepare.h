// From text files to a data set: map, shuffle, reduce, in one process and in bounded memory.
#pragma once
#include <string>
#include <vector>

#include "base/progress.h"
#include "data/dataset/info.h"
#include "data/text/record_format.h"

namespace paceline {

struct PrepareOptions {
  std::vector<std::string> input, valid, test;
  std::string format = "csv";        // csv, tsv, jsonl, text
  std::string quoting = "auto";      // quoted, raw; auto: quoted for csv, raw for tsv
  std::vector<std::string> columns;  // names of the columns of a file without a header
  std::string text = "text";         // column
  std::string text_pair;             // column with a second text; wordpiece only
  std::string label;                 // column, columns or rules; empty: no labels
  std::string tokenizer = "word";    // or wordpiece
  std::string tokenizer_from;  // a data set, run or model whose vocabulary is taken over, or a vocab.txt
  bool cased = false;          // wordpiece: letters and accents stay as they are
  uint64_t max_length = 512;   // wordpiece: ids of a row, with [CLS] and [SEP]
  bool pack = false;           // wordpiece: texts are joined and cut into rows of max_length
  uint64_t vocabulary_size = 50000;  // words beside <pad> and <unk>
  uint64_t min_count = 2;            // rarer words are unknown
  bool keep_html = false;            // as wordpiece does anyway
  bool clean_html = false;           // as word does anyway
  bool deduplicate = false;
  std::string invalid_utf8 = "replace";          // or reject
  double valid_share = 0.05, test_share = 0.05;  // where no files are given for them
  uint64_t fixed_length = 0;
  uint64_t executors = 0;  // 0: all usable cores
  std::string out;
  nlohmann::ordered_json record =
      nlohmann::ordered_json::object();  // the options as the user gave them, for dataset.json
};

struct PrepareResult {
  DatasetInfo info;
  uint64_t records = 0, distinct_words = 0, duplicates = 0;
  double seconds = 0;
};

// Throws InputError or WorkError, and leaves nothing behind then.
PrepareResult prepare(const PrepareOptions& options, Progress& progress);

}  // namespace paceline
