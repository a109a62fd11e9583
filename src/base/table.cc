#include "base/table.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

// Names come from strangers' files: a line break or an escape code in one must not reach the terminal.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

std::string cell_text(const nlohmann::ordered_json& cell) {
  if (cell.is_string()) return printable(cell.get<std::string>());
  if (cell.is_number_float()) return fmt::format("{:.4f}", cell.get<double>());
  if (cell.is_number_unsigned()) return with_commas(cell.get<uint64_t>());
  if (cell.is_null()) return "-";
  return cell.dump();
}

// Code points that terminals draw two columns wide (East Asian, emoji).
bool is_wide(uint32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

}  // namespace

std::string with_commas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    unsigned char lead = static_cast<unsigned char>(text[i]);
    size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t c = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k)
      c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    width += is_wide(c) ? 2 : 1;
    i += length;
  }
  return width;
}

void Table::add(std::vector<nlohmann::ordered_json> row) {
  PACELINE_ASSERT(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  std::vector<std::string> heads;
  for (const auto& column : columns_) heads.push_back(printable(column));
  for (const auto& head : heads) widths.push_back(display_width(head));
  std::vector<bool> right(columns_.size(), true);
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cell_text(row[i])));
      if (!row[i].is_number() && !row[i].is_null()) right[i] = false;
    }
  std::string out;
  auto line = [&](auto&& cell) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      std::string value = cell(i);
      std::string pad(widths[i] - display_width(value), ' ');
      if (i) text += "  ";
      text += right[i] ? pad + value : value + pad;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  line([&](size_t i) { return heads[i]; });
  line([&](size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) line([&](size_t i) { return cell_text(row[i]); });
  return out;
}

nlohmann::ordered_json Table::json() const {
  auto out = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    nlohmann::ordered_json object;
    for (size_t i = 0; i < row.size(); ++i) object[columns_[i]] = row[i];
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace paceline
