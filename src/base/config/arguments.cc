#include "base/config/fields.h"
#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"

namespace paceline {
namespace {

struct Assignment {
  std::string name, value, where;
};

// What the arguments say, before anything is assigned: order of precedence is not order of appearance.
struct Arguments {
  Asked asked = Asked::run;
  std::vector<std::string> configs;
  std::vector<Assignment> sets, flags;
  std::vector<std::string> words;
};

class ArgumentScanner {
 public:
  ArgumentScanner(FieldTable& table, std::span<const std::string> arguments)
      : table_(table), arguments_(arguments) {}

  Arguments scan() {
    bool only_words = false;
    while (position_ < arguments_.size()) {
      const std::string& argument = arguments_[position_++];
      if (only_words || argument.size() < 2 || argument[0] != '-')
        result_.words.push_back(argument);
      else if (argument == "--")
        only_words = true;
      else if (argument == "--help" || argument == "-h")
        result_.asked = Asked::help;
      else
        take_flag(argument);
    }
    return std::move(result_);
  }

 private:
  void take_flag(const std::string& argument) {
    if (argument.compare(0, 2, "--") != 0)
      input_error("{}: flags are written out with two dashes; --help lists them", argument);
    size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::optional<std::string> inline_value;
    if (equals != std::string::npos) inline_value = argument.substr(equals + 1);
    const std::string where = "--" + name;
    if (name == "dump-config") {
      result_.asked = Asked::dump_config;
    } else if (name == "config") {
      result_.configs.push_back(value_of(where, inline_value));
    } else if (name == "set") {
      std::string text = value_of(where, inline_value);
      size_t split = text.find('=');
      if (split == std::string::npos) input_error("--set {}: write it as key=value", text);
      result_.sets.push_back(
          {text.substr(0, split), text.substr(split + 1), "--set " + text.substr(0, split)});
    } else {
      take_field(name, where, inline_value);
    }
  }

  void take_field(const std::string& name, const std::string& where,
                  std::optional<std::string>& inline_value) {
    Field* field = table_.find(name);
    if (field == nullptr && name.rfind("no-", 0) == 0) {
      field = table_.find(name.substr(3));
      if (field != nullptr && !field->takes_value()) {
        result_.flags.push_back({field->name, "false", where});
        return;
      }
      field = nullptr;
    }
    if (field == nullptr) unknown_flag(name);
    if (!field->takes_value()) {
      result_.flags.push_back({name, inline_value.value_or("true"), where});
      return;
    }
    result_.flags.push_back({name, value_of(where, inline_value), where});
    // A list takes every word that follows: --input a.csv b.csv
    while (field->is_list() && !inline_value && position_ < arguments_.size() &&
           arguments_[position_][0] != '-')
      result_.flags.push_back({name, arguments_[position_++], where});
  }

  std::string value_of(const std::string& where, const std::optional<std::string>& inline_value) {
    if (inline_value) return *inline_value;
    if (position_ >= arguments_.size()) input_error("{}: a value is missing after it", where);
    const std::string& next = arguments_[position_];
    if (next.size() > 2 && next.compare(0, 2, "--") == 0)
      input_error("{}: a value is missing before {} (write {}=VALUE where a value begins with --)", where,
                  next, where);
    ++position_;
    return next;
  }

  [[noreturn]] void unknown_flag(const std::string& name) {
    std::vector<std::string> names = {"config", "set", "dump-config", "help"};
    for (const auto& field : table_.fields()) names.push_back(field.name);
    std::string nearest = nearest_name(name, names);
    input_error("--{}: there is no such flag{}", name,
                nearest.empty() ? "; --help lists them" : fmt::format("; did you mean --{}?", nearest));
  }

  FieldTable& table_;
  std::span<const std::string> arguments_;
  size_t position_ = 0;
  Arguments result_;
};

// A list given by a stronger source replaces a weaker one's, and grows within one source.
void assign_all(FieldTable& table, const std::vector<Assignment>& assignments) {
  for (auto& field : table.fields())
    for (const auto& assignment : assignments)
      if (assignment.name == field.name) field.is_set = false;
  for (const auto& assignment : assignments)
    table.require(assignment.name, assignment.where).assign(assignment.value, assignment.where);
}

void assign_words(FieldTable& table, const std::vector<std::string>& words) {
  size_t next = 0;
  for (auto& field : table.fields()) {
    if (!field.positional || next >= words.size()) continue;
    field.is_set = false;
    do {
      field.assign(words[next++], field.value_name);
    } while (field.is_list() && next < words.size());
  }
  if (next < words.size())
    input_error("'{}': nothing is expected there; --help shows the usage", words[next]);
}

}  // namespace

Asked parse_arguments(FieldTable& table, std::span<const std::string> arguments) {
  Arguments given = ArgumentScanner(table, arguments).scan();
  if (given.asked == Asked::help) return Asked::help;
  for (const auto& file : given.configs) from_yaml(table, read_file(file, 16 << 20), file);
  assign_all(table, given.sets);
  assign_all(table, given.flags);
  assign_words(table, given.words);
  if (given.asked == Asked::dump_config) return given.asked;
  for (const auto& field : table.fields())
    if (field.required && !field.is_set) {
      if (field.positional) input_error("{} is missing: {}", field.value_name, field.help);
      input_error("--{} is missing: {}", field.name, field.help);
    }
  return Asked::run;
}

}  // namespace paceline
