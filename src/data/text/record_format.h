// What a file of records looks like.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace paceline {

enum class RecordFormat { csv, tsv, jsonl, text };

// quoted: fields as in RFC 4180, which may hold separators, line breaks and doubled quotes; a quote
// inside a field that does not begin with one is literal. raw: a quote is a character like any other,
// so a line is a record.
enum class Quoting { quoted, raw };

struct SplitOptions {
  RecordFormat format = RecordFormat::csv;
  Quoting quoting = Quoting::quoted;           // csv and tsv only
  std::vector<std::string> columns = {};       // names, for a csv or tsv file without a header
  size_t max_record_bytes = size_t{16} << 20;  // a longer record is an error: it bounds the memory
  size_t block_bytes = size_t{1} << 20;        // about how much text one block holds
};

inline bool has_header(RecordFormat format) {
  return format == RecordFormat::csv || format == RecordFormat::tsv;
}
inline bool may_quote(const SplitOptions& options) {
  return has_header(options.format) && options.quoting == Quoting::quoted;
}
inline char separator(RecordFormat format) { return format == RecordFormat::tsv ? '\t' : ','; }

}  // namespace paceline
