// One table of fields per command gives its flags, YAML keys, help, defaults, checks and record.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline {

struct Field {
  using Target = std::variant<std::string*, uint64_t*, double*, bool*, std::vector<std::string>*>;

  std::string name;   // "batch-size": the flag --batch-size and the key batch-size
  Target target;      // holds the default until something is set
  std::string help;   // one sentence
  std::string group;  // heading in the help
  std::string value_name = "VALUE";
  std::vector<std::string> choices;  // of a text field or list; empty: anything
  double minimum = 0, maximum = 0;   // of a number
  bool positional = false;
  bool required = false;
  bool is_set = false;   // by flag, key or --set, as opposed to the default
  bool recorded = true;  // false: does not belong in a run's record (--json, --quiet)

  Field& one_of(std::vector<std::string> allowed);
  Field& named(std::string value);
  Field& need();
  Field& unrecorded();

  // Sets the value from text; where says who asked ("--batch-size", "run.yaml: batch-size").
  void assign(std::string_view text, std::string_view where);
  std::string value_text() const;
  nlohmann::ordered_json value_json() const;  // a number, true or false, text, or an array of texts
  bool takes_value() const { return !std::holds_alternative<bool*>(target); }
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
};

class FieldTable {
 public:
  // Fields added from now on stand under this heading.
  void group(std::string heading) { group_ = std::move(heading); }
  Field& text(std::string name, std::string* target, std::string help);
  Field& integer(std::string name, uint64_t* target, uint64_t minimum, uint64_t maximum, std::string help);
  Field& real(std::string name, double* target, double minimum, double maximum, std::string help);
  Field& flag(std::string name, bool* target, std::string help);
  Field& list(std::string name, std::vector<std::string>* target, std::string help);
  Field& positional(std::string name, std::string* target, std::string help);
  Field& positionals(std::string name, std::vector<std::string>* target, std::string help);

  std::span<Field> fields() { return fields_; }
  std::span<const Field> fields() const { return fields_; }
  // nullptr when there is none.
  Field* find(std::string_view name);
  // Throws InputError that suggests the nearest name. where: "--set", a file's name, …
  Field& require(std::string_view name, std::string_view where);

 private:
  Field& add(std::string name, Field::Target target, std::string help);
  std::vector<Field> fields_;
  std::string group_ = "Options";
};

enum class Asked { run, help, dump_config };

// Fills the table from a command's arguments: defaults, then --config FILE, then --set key=value, then
// flags. Throws InputError. With Asked::help nothing is checked.
Asked parse_arguments(FieldTable& table, std::span<const std::string> arguments);

// The resolved whole as YAML, one key a line in the table's order.
std::string to_yaml(const FieldTable& table);
// Fills the table from YAML text (a flat map); name is for messages.
void from_yaml(FieldTable& table, const std::string& yaml, const std::string& name);

// "paceline train": usage line, summary, fields by group with their defaults.
std::string help_text(const FieldTable& table, std::string_view command, std::string_view summary);

}  // namespace paceline
