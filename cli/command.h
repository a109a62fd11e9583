// A command: options in, one library call, a table out. Only this folder prints or exits.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/config/fields.h"

namespace paceline::cli {

class Command {
 public:
  virtual ~Command() = default;
  // For defaults that depend on what is asked: called with the arguments before declare.
  virtual void look_ahead(std::span<const std::string>) {}
  // Binds the command's options to flags, keys and help.
  virtual void declare(FieldTable& table) = 0;
  // Sets what follows from other options, when all were filled in. Throws InputError.
  virtual void resolve(FieldTable&) {}
  // Does the work with the options filled in; returns the exit code. Throws InputError, WorkError.
  virtual int run() = 0;
};

struct CommandEntry {
  const char* name;
  const char* summary;
  std::unique_ptr<Command> (*make)();
};

// The table of commands, in the order of the flow.
std::span<const CommandEntry> commands();

std::unique_ptr<Command> make_quickstart();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_generate();
std::unique_ptr<Command> make_fetch_model();
std::unique_ptr<Command> make_prepare();
std::unique_ptr<Command> make_inspect();
std::unique_ptr<Command> make_train();
std::unique_ptr<Command> make_evaluate();
std::unique_ptr<Command> make_predict();
std::unique_ptr<Command> make_completion();

// The flag that every command that prints a table takes.
inline void declare_json(FieldTable& table, bool* json) {
  table.flag("json", json, "Print JSON instead of a table.").unrecorded();
}

inline void print_json(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace paceline::cli
