#include "data/text/record_parser.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "data/text/fields.h"
#include "data/text/find_byte.h"
#include "data/text/json_record.h"

namespace paceline {
namespace {

// Where the column stands in the header.
size_t find_column(const std::vector<std::string>& header, const std::string& column,
                   const std::string& file_name) {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found == header.end()) {
    const std::string nearest = nearest_name(column, header);
    constexpr size_t shown = 50;
    const std::vector<std::string> first(
        header.begin(), header.begin() + static_cast<std::ptrdiff_t>(std::min(header.size(), shown)));
    input_error("{}: there is no column \"{}\"{}; its columns are: {}{}", file_name, column,
                nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest), fmt::join(first, ", "),
                header.size() > shown ? ", ..." : "");
  }
  if (std::find(found + 1, header.end(), column) != header.end()) {
    input_error("{}: the column \"{}\" stands twice in the header; rename one of them", file_name, column);
  }
  return static_cast<size_t>(found - header.begin());
}

}  // namespace

struct RecordParser::Implementation {
  SplitOptions options;
  std::vector<std::string> columns;
  size_t width = 1;               // columns of the header
  std::vector<size_t> positions;  // of the wanted columns in the header
  std::vector<std::string_view> fields;
  std::string scratch;
  JsonRecord json;
  std::string detail;

  const char* parse_fields(std::string_view record, std::vector<std::optional<std::string_view>>& values) {
    split_fields(record, options, fields);
    if (fields.size() != width) {
      detail = fmt::format("{} columns, expected {}{}", fields.size(), width, suspect());
      return "wrong number of columns";
    }
    scratch.clear();
    scratch.reserve(record.size());  // so that no value moves
    for (const size_t position : positions) {
      values.emplace_back(may_quote(options) ? unquote(fields[position], scratch) : fields[position]);
    }
    return nullptr;
  }

  // A quoted field that holds line breaks swallows its neighbours when its quote was not meant.
  std::string suspect() const {
    if (fields.size() > width || !may_quote(options)) return "";
    for (size_t k = 0; k < fields.size(); ++k) {
      const bool quoted = fields[k].starts_with('"');
      if (quoted && fields[k].find('\n') != std::string_view::npos) {
        return fmt::format(" (unclosed quote in column {}?)", k + 1);
      }
    }
    return "";
  }
};

RecordParser::RecordParser(SplitOptions options, const std::vector<std::string>& header,
                           std::vector<std::string> columns, std::string file_name)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->options = options;
  if (options.format == RecordFormat::text) {
    for (const std::string& column : columns) find_column({"text"}, column, file_name);
  } else if (has_header(options.format)) {
    for (const std::string& column : columns) {
      implementation_->positions.push_back(find_column(header, column, file_name));
    }
    implementation_->width = header.size();
  }
  implementation_->columns = std::move(columns);
}

RecordParser::~RecordParser() = default;
RecordParser::RecordParser(RecordParser&&) noexcept = default;

const char* RecordParser::parse(std::string_view record,
                                std::vector<std::optional<std::string_view>>& values) {
  Implementation& self = *implementation_;
  values.clear();
  self.detail.clear();
  if (find_byte(record, '\0', 0) < record.size()) return "NUL byte";
  switch (self.options.format) {
    case RecordFormat::csv:
    case RecordFormat::tsv:
      return self.parse_fields(record, values);
    case RecordFormat::jsonl: {
      const char* reason = self.json.parse(record, self.columns, values);
      if (reason != nullptr) self.detail = self.json.detail();
      return reason;
    }
    case RecordFormat::text:
      values.assign(self.columns.size(), record);
      return nullptr;
  }
  return nullptr;
}

std::string RecordParser::detail() const { return implementation_->detail; }

std::vector<std::string> json_keys(std::string_view record) { return JsonRecord::keys_of(record); }

}  // namespace paceline
