#include "base/machine/proc.h"

#include <charconv>
#include <fstream>

namespace paceline {

std::optional<std::string> read_proc(const fs::path& path) {
  constexpr size_t max_bytes = 4 << 20;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (text.size() < max_bytes && (file.read(buffer, sizeof buffer), file.gcount() > 0))
    text.append(buffer, static_cast<size_t>(file.gcount()));
  if (file.bad()) return std::nullopt;
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::optional<uint64_t> parse_number(std::string_view text) {
  text = trimmed(text);
  uint64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string_view> proc_field(std::string_view text, std::string_view key) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(key)) {
      std::string_view rest = line.substr(key.size());
      size_t value = rest.find_first_not_of(": \t");
      if (!rest.empty() && value != 0)
        return value == std::string_view::npos ? "" : trimmed(rest.substr(value));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<uint64_t> proc_number(std::string_view text, std::string_view key) {
  std::optional<std::string_view> field = proc_field(text, key);
  if (!field) return std::nullopt;
  bool kilobytes = field->ends_with(" kB");
  std::optional<uint64_t> number = parse_number(kilobytes ? field->substr(0, field->size() - 3) : *field);
  if (number && kilobytes) *number *= 1024;
  return number;
}

std::optional<unsigned> count_cpu_list(std::string_view text) {
  text = trimmed(text);
  uint64_t count = 0;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view range = text.substr(0, comma);
    size_t dash = range.find('-');
    std::optional<uint64_t> first = parse_number(range.substr(0, dash));
    std::optional<uint64_t> last =
        dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000) return std::nullopt;
    count += *last - *first + 1;
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  if (count == 0 || count > 1'000'000) return std::nullopt;
  return static_cast<unsigned>(count);
}

}  // namespace paceline
