#include "data/text/fields.h"

#include "data/text/find_byte.h"

namespace paceline {
namespace {

// The position of the quote that closes the one at `open`, or the end.
size_t closing_quote(std::string_view text, size_t open) {
  size_t position = find_byte(text, '"', open + 1);
  while (position + 1 < text.size() && text[position + 1] == '"')
    position = find_byte(text, '"', position + 2);
  return position;
}

}  // namespace

void split_fields(std::string_view record, const SplitOptions& options,
                  std::vector<std::string_view>& fields) {
  fields.clear();
  const char between = separator(options.format);
  const bool quoted = may_quote(options);
  for (size_t begin = 0; begin <= record.size();) {
    size_t from = begin;
    if (quoted && begin < record.size() && record[begin] == '"') from = closing_quote(record, begin);
    const size_t end = find_byte(record, between, from);
    fields.push_back(record.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string_view unquote(std::string_view field, std::string& scratch) {
  if (field.empty() || field.front() != '"') return field;
  const size_t first = find_byte(field, '"', 1);
  if (first + 1 >= field.size()) return field.substr(1, first - 1);
  const size_t start = scratch.size();
  size_t copied = 1;
  size_t quote = first;
  while (quote + 1 < field.size() && field[quote + 1] == '"') {  // a doubled quote stands for one
    scratch.append(field, copied, quote + 1 - copied);
    copied = quote + 2;
    quote = find_byte(field, '"', copied);
  }
  scratch.append(field, copied, quote - copied);
  if (quote < field.size()) scratch.append(field, quote + 1);
  return std::string_view(scratch).substr(start);
}

}  // namespace paceline
