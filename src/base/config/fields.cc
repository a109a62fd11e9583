#include "base/config/fields.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"

namespace paceline {
namespace {

// Digits with an optional suffix k, M or G (powers of 1000) or a decimal exponent that gives a whole number.
uint64_t parse_integer(std::string_view text, const Field& field, std::string_view where) {
  uint64_t scale = 1;
  std::string_view digits = text;
  if (!digits.empty()) {
    const char last = digits.back();
    scale = last == 'k' ? 1000u : last == 'M' ? 1000000u : last == 'G' ? 1000000000u : 1u;
    if (scale != 1) digits.remove_suffix(1);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool too_large = error == std::errc::result_out_of_range || value > UINT64_MAX / scale;
  if ((error != std::errc() && !too_large) || end != digits.data() + digits.size() || digits.empty())
    input_error("{}: '{}' is not a whole number (1000, 50k and 2M are)", where, text);
  value *= scale;
  if (too_large || static_cast<double>(value) < field.minimum || static_cast<double>(value) > field.maximum)
    input_error("{}: {} is out of range, {} to {} is allowed", where, text, field.minimum, field.maximum);
  return value;
}

double parse_real(std::string_view text, const Field& field, std::string_view where) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    input_error("{}: '{}' is not a number (0.1 and 2e-5 are)", where, text);
  if (value < field.minimum || value > field.maximum)
    input_error("{}: {} is out of range, {} to {} is allowed", where, value, field.minimum, field.maximum);
  return value;
}

bool parse_boolean(std::string_view text, std::string_view where) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  input_error("{}: '{}' is neither true nor false", where, text);
}

void check_choice(std::string_view text, const Field& field, std::string_view where) {
  if (field.choices.empty() ||
      std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end())
    return;
  std::string all;
  for (const auto& choice : field.choices) all += (all.empty() ? "" : ", ") + choice;
  std::string nearest = nearest_name(text, field.choices);
  input_error("{}: '{}' is not one of {}{}", where, text, all,
              nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace

Field& Field::one_of(std::vector<std::string> allowed) {
  choices = std::move(allowed);
  return *this;
}

Field& Field::named(std::string value) {
  value_name = std::move(value);
  return *this;
}

Field& Field::need() {
  required = true;
  return *this;
}

Field& Field::unrecorded() {
  recorded = false;
  return *this;
}

void Field::assign(std::string_view text, std::string_view where) {
  struct Setter {
    Field& field;
    std::string_view text, where;
    void operator()(std::string* target) const {
      check_choice(text, field, where);
      *target = text;
    }
    void operator()(uint64_t* target) const { *target = parse_integer(text, field, where); }
    void operator()(double* target) const { *target = parse_real(text, field, where); }
    void operator()(bool* target) const { *target = parse_boolean(text, where); }
    void operator()(std::vector<std::string>* target) const {
      check_choice(text, field, where);
      if (!field.is_set) target->clear();
      target->emplace_back(text);
    }
  };
  std::visit(Setter{*this, text, where}, target);
  is_set = true;
}

std::string Field::value_text() const {
  struct Printer {
    std::string operator()(const std::string* value) const { return *value; }
    std::string operator()(const uint64_t* value) const { return std::to_string(*value); }
    std::string operator()(const double* value) const { return fmt::format("{}", *value); }
    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const std::vector<std::string>* value) const {
      std::string joined;
      for (const auto& item : *value) joined += (joined.empty() ? "" : " ") + item;
      return joined;
    }
  };
  return std::visit(Printer{}, target);
}

nlohmann::ordered_json Field::value_json() const {
  return std::visit([](const auto* value) { return nlohmann::ordered_json(*value); }, target);
}

Field& FieldTable::add(std::string name, Field::Target target, std::string help) {
  PACELINE_ASSERT(find(name) == nullptr);
  Field field;
  field.name = std::move(name);
  field.target = target;
  field.help = std::move(help);
  field.group = group_;
  fields_.push_back(std::move(field));
  return fields_.back();
}

Field& FieldTable::text(std::string name, std::string* target, std::string help) {
  return add(std::move(name), target, std::move(help));
}

Field& FieldTable::integer(std::string name, uint64_t* target, uint64_t minimum, uint64_t maximum,
                           std::string help) {
  Field& field = add(std::move(name), target, std::move(help)).named("N");
  field.minimum = static_cast<double>(minimum);
  field.maximum = static_cast<double>(maximum);
  return field;
}

Field& FieldTable::real(std::string name, double* target, double minimum, double maximum, std::string help) {
  Field& field = add(std::move(name), target, std::move(help)).named("X");
  field.minimum = minimum;
  field.maximum = maximum;
  return field;
}

Field& FieldTable::flag(std::string name, bool* target, std::string help) {
  return add(std::move(name), target, std::move(help));
}

Field& FieldTable::list(std::string name, std::vector<std::string>* target, std::string help) {
  return add(std::move(name), target, std::move(help));
}

Field& FieldTable::positional(std::string name, std::string* target, std::string help) {
  Field& field = add(std::move(name), target, std::move(help));
  field.positional = true;
  return field;
}

Field& FieldTable::positionals(std::string name, std::vector<std::string>* target, std::string help) {
  Field& field = add(std::move(name), target, std::move(help));
  field.positional = true;
  return field;
}

Field* FieldTable::find(std::string_view name) {
  for (auto& field : fields_)
    if (field.name == name) return &field;
  return nullptr;
}

Field& FieldTable::require(std::string_view name, std::string_view where) {
  if (Field* field = find(name)) return *field;
  std::vector<std::string> names;
  for (const auto& field : fields_) names.push_back(field.name);
  std::string nearest = nearest_name(name, names);
  input_error("{}: there is no key '{}'{}", where, name,
              nearest.empty() ? "; --help lists them all" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace paceline
