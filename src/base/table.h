// A table that prints for a person, as TSV and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace paceline {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  // A cell is any JSON value; numbers are printed right-aligned, floats with four decimals.
  void add(std::vector<nlohmann::ordered_json> row);
  std::string text() const;
  nlohmann::ordered_json json() const;  // an array of objects, one per row
  const std::vector<std::string>& columns() const { return columns_; }
  size_t size() const { return rows_.size(); }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<nlohmann::ordered_json>> rows_;
};

// 1234567 -> "1,234,567"
std::string with_commas(uint64_t value);
// Columns a terminal needs for UTF-8 text (code points; wide ones count two).
size_t display_width(std::string_view text);

}  // namespace paceline
