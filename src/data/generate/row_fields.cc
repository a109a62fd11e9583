#include "data/generate/row_fields.h"

#include "base/error.h"

namespace paceline {

bool is_csv(std::string_view format) {
  if (format == "csv") return true;
  if (format != "jsonl") input_error("--format {}: expected jsonl or csv", format);
  return false;
}

std::string csv_header(std::initializer_list<std::string_view> columns) {
  std::string header;
  for (std::string_view column : columns) header.append(header.empty() ? "" : ",").append(column);
  return header + "\n";
}

void RowFields::begin(std::string_view name) {
  if (csv_)
    out_.append(first_ ? "" : ",");
  else
    out_.append(first_ ? "{\"" : ", \"").append(name).append("\": ");
  first_ = false;
}

void RowFields::number(std::string_view name, std::string_view digits) {
  begin(name);
  out_.append(digits);
}

void RowFields::code(std::string_view name, std::string_view code) {
  begin(name);
  if (csv_)
    out_.append(code);
  else
    out_.append("\"").append(code).append("\"");
}

void RowFields::text(std::string_view name, std::string_view text) {
  begin(name);
  out_.push_back('"');
  size_t from = 0;
  for (size_t at; (at = text.find_first_of("\"\n", from)) != std::string_view::npos; from = at + 1) {
    out_.append(text, from, at - from);
    if (csv_)
      out_.append(text[at] == '"' ? "\"\"" : "\n");
    else
      out_.append(text[at] == '"' ? "\\\"" : "\\n");
  }
  out_.append(text, from);
  out_.push_back('"');
}

uint64_t share_of_2_32(double share, std::string_view flag, double low, double high) {
  if (!(share >= low && share <= high))
    input_error("{} {}: expected a number from {} to {}", flag, share, low, high);
  return static_cast<uint64_t>(share * 0x1.0p32);
}

}  // namespace paceline
