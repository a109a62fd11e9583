#include "base/config/fields.h"

#include <fmt/core.h>

#include "base/table.h"

namespace paceline {
namespace {

constexpr size_t help_column = 30, help_width = 100;

std::string wrapped(const std::string& text) {
  std::string out;
  size_t column = help_column;
  for (size_t i = 0; i < text.size();) {
    size_t end = text.find(' ', i);
    if (end == std::string::npos) end = text.size();
    if (column + (end - i) > help_width && column > help_column) {
      out += "\n" + std::string(help_column, ' ');
      column = help_column;
    } else if (i > 0) {
      out += ' ';
    }
    out += text.substr(i, end - i);
    column += end - i + 1;
    i = end + 1;
  }
  return out;
}

std::string value_of(const Field& field) {
  if (field.choices.empty()) return field.value_name;
  std::string joined;
  for (const auto& choice : field.choices) joined += (joined.empty() ? "" : "|") + choice;
  return joined;
}

std::string entry(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  const size_t width = display_width(line);
  line +=
      width + 2 > help_column ? "\n" + std::string(help_column, ' ') : std::string(help_column - width, ' ');
  return line + wrapped(right) + "\n";
}

}  // namespace

std::string help_text(const FieldTable& table, std::string_view command, std::string_view summary) {
  std::string out = fmt::format("usage: {}", command);
  for (const auto& field : table.fields())
    if (field.positional) {
      const std::string word = value_of(field) + (field.is_list() ? "…" : "");
      out += field.required ? " " + word : " [" + word + "]";
    }
  out += fmt::format(" [flags]\n\n{}\n", summary);
  std::string heading;
  for (const auto& field : table.fields()) {
    if (field.group != heading) {
      heading = field.group;
      out += fmt::format("\n{}\n", heading);
    }
    std::string value = field.value_text();
    std::string left = field.positional ? field.value_name : "--" + field.name;
    if (!field.positional && field.takes_value()) left += " " + value_of(field);
    std::string right = field.help;
    if (field.required)
      right += " (required)";
    else if (field.takes_value() && !value.empty())
      right += fmt::format(" (default: {})", value);
    out += entry(left, right);
  }
  out += "\nEverywhere\n";
  out += entry("--config FILE", "Read keys from a YAML file; every flag above is a key of the same name.");
  out += entry("--set KEY=VALUE", "Set any key; stronger than --config, weaker than its own flag.");
  out += entry("--dump-config", "Print the resolved configuration as YAML and leave.");
  out += entry("--help", "This page.");
  return out;
}

}  // namespace paceline
