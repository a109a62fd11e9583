#include "data/prepare/labels.h"

#include <charconv>

#include "base/error.h"

namespace paceline {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

size_t index_of(std::vector<std::string>& names, std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) found = names.emplace(names.end(), name);
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

std::optional<LabelSpec::Rule> LabelSpec::parse_rule(std::string_view text,
                                                     std::vector<std::string>& columns) {
  const size_t op = text.find_first_of("<>=!");
  const size_t colon = text.rfind(':');
  if (op == std::string_view::npos || op == 0 || colon == std::string_view::npos || colon < op)
    return std::nullopt;
  const bool wide = op + 1 < text.size() && text[op + 1] == '=';
  Rule rule;
  switch (text[op]) {
    case '<':
      rule.comparison = wide ? Comparison::less_equal : Comparison::less;
      break;
    case '>':
      rule.comparison = wide ? Comparison::greater_equal : Comparison::greater;
      break;
    case '=':
      rule.comparison = Comparison::equal;
      break;
    default:
      if (!wide) return std::nullopt;
      rule.comparison = Comparison::not_equal;
  }
  const size_t begin = op + (wide ? 2 : 1);
  rule.value = trimmed(text.substr(begin, colon - begin));
  rule.number = number_in(rule.value);
  rule.name = trimmed(text.substr(colon + 1));
  const bool ordered = rule.comparison != Comparison::equal && rule.comparison != Comparison::not_equal;
  if (rule.name.empty() || rule.value.empty() || (ordered && !rule.number)) return std::nullopt;
  rule.column = index_of(columns, trimmed(text.substr(0, op)));
  return rule;
}

LabelSpec LabelSpec::parse(const std::string& text, const std::vector<std::string>& columns) {
  LabelSpec spec;
  if (text.empty()) return spec;
  const bool is_column = std::find(columns.begin(), columns.end(), text) != columns.end();
  const auto parts = parts_of(text);
  if (!is_column && text.find_first_of("<>=!") != std::string::npos) {
    spec.kind_ = LabelKind::single;
    for (std::string_view part : parts) {
      auto rule = parse_rule(part, spec.columns_);
      if (!rule) input_error("--label: '{}' is not a rule such as overall>=4:positive", part);
      index_of(spec.classes_, rule->name);
      spec.rules_.push_back(std::move(*rule));
    }
    if (spec.classes_.size() < 2)
      input_error("--label: the rules name one class only, '{}'; at least two are needed", spec.classes_[0]);
    std::sort(spec.classes_.begin(), spec.classes_.end());
  } else if (!is_column && parts.size() > 1) {
    spec.kind_ = LabelKind::multiple;
    for (std::string_view part : parts) {
      if (part.empty() || std::find(spec.classes_.begin(), spec.classes_.end(), part) != spec.classes_.end())
        input_error("--label {}: column '{}' is {}", text, part, part.empty() ? "empty" : "named twice");
      spec.classes_.emplace_back(part);
    }
    spec.columns_ = spec.classes_;
  } else {
    spec.kind_ = LabelKind::single;
    spec.columns_ = {text};
  }
  return spec;
}

bool LabelSpec::holds(const Rule& rule, std::string_view value) {
  const auto number = number_in(value);
  const bool numeric = number && rule.number;
  switch (rule.comparison) {
    case Comparison::equal:
      return numeric ? *number == *rule.number : value == rule.value;
    case Comparison::not_equal:
      return numeric ? *number != *rule.number : value != rule.value;
    case Comparison::less:
      return numeric && *number < *rule.number;
    case Comparison::less_equal:
      return numeric && *number <= *rule.number;
    case Comparison::greater:
      return numeric && *number > *rule.number;
    case Comparison::greater_equal:
      return numeric && *number >= *rule.number;
  }
  return false;
}

void LabelSpec::label(const std::vector<std::optional<std::string_view>>& values, size_t first,
                      Outcome& out) const {
  out.problem = nullptr;
  out.flags.clear();
  if (kind_ == LabelKind::none) return;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (!values[first + i] || trimmed(*values[first + i]).empty()) {
      out.problem = "no label";
      return;
    }
  if (kind_ == LabelKind::multiple) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view value = trimmed(*values[first + i]);
      const bool yes = value == "1" || value == "1.0" || value == "true" || value == "True";
      const bool no = value == "0" || value == "0.0" || value == "false" || value == "False";
      if (!yes && !no) {
        out.problem = "a label other than 0 and 1";
        return;
      }
      out.flags.push_back(yes ? 1 : 0);
    }
    return;
  }
  if (rules_.empty()) {
    out.value = trimmed(*values[first]);
    return;
  }
  for (const auto& rule : rules_)
    if (holds(rule, trimmed(*values[first + rule.column]))) {
      out.value = rule.name;
      return;
    }
  out.problem = "no label rule holds";
}

uint32_t ClassRegistry::number(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto [entry, added] = numbers_.try_emplace(std::string(name), static_cast<uint32_t>(numbers_.size()));
  if (added && numbers_.size() > max_classes)
    input_error(
        "--label: the column has more than {} different values ('{}' is one); a class column is needed, or "
        "rules such "
        "as overall>=4:positive",
        max_classes, name.substr(0, 60));
  return entry->second;
}

std::vector<std::string> ClassRegistry::sorted_names() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers_) names.push_back(name);
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    auto x = number_in(a), y = number_in(b);
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
  });
  return names;
}

std::vector<uint32_t> ClassRegistry::places(const std::vector<std::string>& names) const {
  std::vector<uint32_t> place(numbers_.size(), UINT32_MAX);
  for (uint32_t i = 0; i < names.size(); ++i) {
    auto found = numbers_.find(names[i]);
    if (found != numbers_.end()) place[found->second] = i;
  }
  return place;
}

}  // namespace paceline
