// From the columns of a record to its label.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/dataset/info.h"

namespace paceline {

// --label in one of four forms: nothing (no labels); a column whose values are the classes; several
// columns "toxic,obscene,…" with 0 or 1 each; rules "overall>=4:positive,overall<=2:negative", of which
// the first that holds names the class.
class LabelSpec {
 public:
  // columns: of the header, or empty when the format has none; a column of that very name wins over
  // reading the text as rules or several columns. Throws InputError.
  static LabelSpec parse(const std::string& text, const std::vector<std::string>& columns);

  LabelKind kind() const { return kind_; }
  bool has_rules() const { return !rules_.empty(); }
  // The columns whose values label() wants, in its order.
  const std::vector<std::string>& columns() const { return columns_; }
  // Known beforehand for rules and several columns; empty when they are a column's values.
  const std::vector<std::string>& classes() const { return classes_; }

  struct Outcome {
    const char* problem = nullptr;  // why the record cannot be used
    std::string_view value;         // the class's name, LabelKind::single; valid as long as the input
    std::vector<uint8_t> flags;     // LabelKind::multiple
  };
  void label(const std::vector<std::optional<std::string_view>>& values, size_t first, Outcome& out) const;

 private:
  enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
  struct Rule {
    size_t column;
    Comparison comparison;
    std::string value;
    std::optional<double> number;
    std::string name;
  };
  static std::optional<Rule> parse_rule(std::string_view text, std::vector<std::string>& columns);
  static bool holds(const Rule& rule, std::string_view value);

  LabelKind kind_ = LabelKind::none;
  std::vector<std::string> columns_, classes_;
  std::vector<Rule> rules_;
};

// Classes that are a column's values, numbered as they are met; which number a class gets depends on
// chance, so final_order() tells its place in the total order (numbers by value, then names).
class ClassRegistry {
 public:
  static constexpr size_t max_classes = 1000;
  explicit ClassRegistry(std::vector<std::string> known) {
    for (auto& name : known) number(name);
  }
  // Throws InputError beyond max_classes.
  uint32_t number(std::string_view name);
  std::vector<std::string> sorted_names() const;
  // place[number] in sorted_names().
  std::vector<uint32_t> places(const std::vector<std::string>& names) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace paceline
