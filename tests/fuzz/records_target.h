// What the fuzz targets of the readers do with arbitrary bytes, and what must hold for all of them.
// The tests run the same over the kept corpus.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/text/clean.h"
#include "data/text/records.h"
#include "data/text/utf8.h"
#include "data/text/word_tokenizer.h"
#include "memory_source.h"

namespace paceline {

inline void check_text(std::string_view text, WordTokenizer& tokenizer) {
  std::string repaired, clean;
  replace_invalid_utf8(text, repaired);
  PACELINE_ASSERT(valid_utf8(repaired));
  PACELINE_ASSERT(!valid_utf8(text) || repaired == text);
  clean_html(repaired, clean);
  PACELINE_ASSERT(valid_utf8(clean) && clean.size() <= repaired.size());
  std::vector<std::string_view> words;
  for (const std::string_view any : {text, std::string_view(clean)}) {
    tokenizer.split(any, words);
    for (const std::string_view word : words) {
      PACELINE_ASSERT(!word.empty() && word.size() <= WordTokenizer::max_word_bytes && valid_utf8(word));
    }
  }
}

inline void check_block(const RecordBlock& block, const SplitOptions& options, uint64_t ordinal,
                        uint64_t& line) {
  PACELINE_ASSERT(!block.entries.empty() && block.first_ordinal == ordinal);
  size_t end = 0;
  for (const RecordBlock::Entry& entry : block.entries) {
    PACELINE_ASSERT(entry.begin >= end && entry.length > 0 && entry.length <= options.max_record_bytes);
    PACELINE_ASSERT(entry.line > line);
    line = entry.line;
    end = entry.begin + entry.length;
    PACELINE_ASSERT(end <= block.bytes.size());
  }
}

// The records' bytes and lines, and the message when the file ended in an error.
struct SplitResult {
  std::vector<std::string> header, records;
  std::vector<uint64_t> lines;
  std::string error;
  bool operator==(const SplitResult&) const = default;
};

inline SplitResult split_all(std::string_view bytes, size_t piece, SplitOptions options) {
  SplitResult result;
  try {
    RecordSplitter splitter(std::make_unique<MemorySource>(std::string(bytes), piece), "fuzzed", options);
    result.header = splitter.header();
    uint64_t line = 0;
    RecordBlock block;
    while (splitter.next_block(block)) {
      check_block(block, options, result.records.size(), line);
      for (size_t k = 0; k < block.entries.size(); ++k) {
        result.records.emplace_back(block.record(k));
        result.lines.push_back(block.entries[k].line);
      }
    }
    PACELINE_ASSERT(splitter.bytes_consumed() == bytes.size());
  } catch (const InputError& error) {
    result.error = error.what();
  }
  return result;
}

// How the bytes arrive and how long blocks are must not matter. Over-long records are the exception:
// they are noticed as soon as possible, so the message may name the quote or the record.
inline SplitResult check_splitting(std::string_view bytes, SplitOptions options) {
  options.block_bytes = 16;
  options.max_record_bytes = 4096;
  const SplitResult small = split_all(bytes, 3, options);
  options.block_bytes = 1 << 16;
  SplitResult large = split_all(bytes, SIZE_MAX, options);
  PACELINE_ASSERT(small.error.empty() == large.error.empty());
  if (large.error.empty()) PACELINE_ASSERT(small == large);
  return large;
}

// The columns of a file that nobody knows: its first and last, of those that can be asked for.
inline std::vector<std::string> some_columns(const std::vector<std::string>& header) {
  std::vector<std::string> columns;
  for (const std::string& name : header) {
    if (std::count(header.begin(), header.end(), name) == 1) columns.push_back(name);
  }
  if (columns.size() > 2) columns = {columns.front(), columns.back()};
  return columns;
}

inline void check_records(std::string_view bytes, SplitOptions options,
                          const std::vector<std::string>& columns) {
  const SplitResult split = check_splitting(bytes, options);
  RecordParser parser(options, split.header, columns, "fuzzed");
  WordTokenizer tokenizer;
  std::vector<std::optional<std::string_view>> values;
  std::string repaired;
  for (const std::string& record : split.records) {
    const char* reason = parser.parse(record, values);
    if (reason != nullptr && reason == std::string_view("invalid UTF-8")) {
      PACELINE_ASSERT(!valid_utf8(record));
      replace_invalid_utf8(record, repaired);
      reason = parser.parse(repaired, values);
      PACELINE_ASSERT(reason == nullptr || reason != std::string_view("invalid UTF-8"));
    }
    PACELINE_ASSERT(values.size() == (reason == nullptr ? columns.size() : 0));
    for (const auto& value : values) {
      if (!value) continue;
      PACELINE_ASSERT(value->size() <= record.size() || !valid_utf8(record));
      PACELINE_ASSERT(!valid_utf8(record) || valid_utf8(*value));
      check_text(*value, tokenizer);
    }
  }
}

inline void check_separated(std::string_view bytes, RecordFormat format) {
  for (const Quoting quoting : {Quoting::quoted, Quoting::raw}) {
    check_records(bytes, {.format = format, .quoting = quoting}, {});
  }
}

inline void check_csv(std::string_view bytes) { check_separated(bytes, RecordFormat::csv); }
inline void check_tsv(std::string_view bytes) { check_separated(bytes, RecordFormat::tsv); }
inline void check_jsonl(std::string_view bytes) {
  check_records(bytes, {.format = RecordFormat::jsonl}, {"reviewText", "overall", "a"});
  check_records(bytes, {.format = RecordFormat::text}, {"text"});
  for (const std::string& key : json_keys(bytes)) PACELINE_ASSERT(valid_utf8(key));
}

}  // namespace paceline
