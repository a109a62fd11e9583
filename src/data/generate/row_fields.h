// The fields of a generated row, as CSV or as JSON lines.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace paceline {

// Whether the format is csv and not jsonl; throws InputError for any other.
bool is_csv(std::string_view format);
// "a,b,c" and a newline.
std::string csv_header(std::initializer_list<std::string_view> columns);

// Appends one row to out, field by field.
class RowFields {
 public:
  RowFields(bool csv, std::string& out) : csv_(csv), out_(out) {}
  // Bare in both formats.
  void number(std::string_view name, std::string_view digits);
  // Letters and digits: bare in CSV, quoted in JSON.
  void code(std::string_view name, std::string_view code);
  // Quoted in both. Of what has to be escaped it may have quotes and newlines alone, which is all that
  // composers write.
  void text(std::string_view name, std::string_view text);
  void end() { out_.append(csv_ ? "\n" : "}\n"); }

 private:
  void begin(std::string_view name);
  bool csv_, first_ = true;
  std::string& out_;
};

// The probability as a whole number of 2^-32, so that every machine draws the same. Throws InputError that
// names the flag and the range.
uint64_t share_of_2_32(double share, std::string_view flag, double low, double high);

}  // namespace paceline
