// Takes the wanted columns out of one record.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/record_format.h"

namespace paceline {

// One per thread: it holds the buffers that its results point into.
class RecordParser {
 public:
  // csv, tsv: throws InputError when a wanted column is not in the header (naming those that are, and
  // the nearest) or stands there twice. text has the one column "text".
  RecordParser(SplitOptions options, const std::vector<std::string>& header, std::vector<std::string> columns,
               std::string file_name);
  ~RecordParser();
  RecordParser(RecordParser&&) noexcept;

  // Values of the wanted columns, in their order, valid until the next call or until the record's
  // bytes go. nullptr when good, else why not, as a short static text ("wrong number of columns",
  // "invalid JSON", "not a JSON object", "invalid UTF-8", ...) and nothing in values.
  // JSONL: keys of the outermost object, the first of equal ones; absent or null is nullopt; strings
  // are unescaped, other values are their JSON text.
  const char* parse(std::string_view record, std::vector<std::optional<std::string_view>>& values);
  // More about the last failure ("3 columns, expected 4"); may be empty.
  std::string detail() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// The outermost keys of a JSONL record, for messages; empty when it is no JSON object.
std::vector<std::string> json_keys(std::string_view record);

}  // namespace paceline
