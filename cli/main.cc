#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/machine/probe.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/workers.h"
#include "cluster/launch/program_files.h"

namespace paceline::cli {

std::span<const CommandEntry> commands() {
  static const CommandEntry table[] = {
      {"quickstart", "Generate, prepare, train, evaluate and predict: the whole flow in two minutes.",
       make_quickstart},
      {"doctor", "What this machine can do, and what to fix.", make_doctor},
      {"generate", "Write practice data whose best possible score is known.", make_generate},
      {"fetch-model", "Fetch a pretrained model to start from.", make_fetch_model},
      {"prepare", "Turn text files into a data set (HDF5).", make_prepare},
      {"inspect", "What is in a data set, a run or a model.", make_inspect},
      {"train", "Train a model on a data set.", make_train},
      {"evaluate", "Score a model on a data set, beside the null classifier.", make_evaluate},
      {"predict", "Label sentences with a model.", make_predict},
      {"completion", "Print a completion script for bash, zsh or fish.", make_completion},
  };
  return table;
}

namespace {

std::string overview() {
  std::string out =
      "Paceline turns a pile of text into a trained, measured and explained model.\n\n"
      "usage: paceline COMMAND [flags]\n\n";
  for (const auto& command : commands()) out += fmt::format("  {:<12}{}\n", command.name, command.summary);
  out +=
      "\n  paceline COMMAND --help shows a command's flags; paceline --version the version.\n"
      "  New here? Try: paceline quickstart\n";
  return out;
}

const CommandEntry& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (name == command.name) return command;
    names.emplace_back(command.name);
  }
  std::string nearest = nearest_name(name, names);
  input_error("'{}': there is no such command{}", name,
              nearest.empty() ? "; paceline --help lists them" : fmt::format("; did you mean {}?", nearest));
}

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    fmt::print("{}", overview());
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    fmt::print("paceline {}\n", PACELINE_VERSION);
    return 0;
  }
  // Whether two machines have the same program; asked by --hosts.
  if (arguments[0] == "--fingerprint") {
    fmt::print("{}\n", program_fingerprint());
    return 0;
  }
  const CommandEntry& entry = find_command(arguments[0]);
  std::unique_ptr<Command> command = entry.make();
  FieldTable table;
  command->look_ahead(std::span(arguments).subspan(1));
  command->declare(table);
  const Asked asked = parse_arguments(table, std::span(arguments).subspan(1));
  if (asked != Asked::help) command->resolve(table);
  switch (asked) {
    case Asked::help:
      fmt::print("{}", help_text(table, fmt::format("paceline {}", entry.name), entry.summary));
      return 0;
    case Asked::dump_config:
      fmt::print("{}", to_yaml(table));
      return 0;
    case Asked::run:
      break;
  }
  return command->run();
}

// Whoever reads our output has had enough (| head -1): silence, and the code that the signal would give.
constexpr int broken_pipe = 128 + SIGPIPE;

// One line, whatever stood in a file's name or contents.
int complain(std::string_view message, int code) {
  std::string line(message);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  if (const auto worker = worker_environment()) end_worker(*worker, line, code);
  std::fprintf(stderr, "paceline: %s\n", line.c_str());
  return code;
}

// Output that did not arrive (a full disk behind a redirection) must not look like success.
int with_flushed_output(int code) {
  if (std::fflush(stdout) == 0 || code != 0) return code;
  if (errno == EPIPE) return broken_pipe;
  return complain(fmt::format("standard output could not be written: {}", std::strerror(errno)), 1);
}

// A process of its own, which may die of it.
int try_bfloat16() {
  std::string reason;
  Engine* library = try_engine(reason);
  return library != nullptr && library->bfloat16_is_right() ? 0 : 1;
}

}  // namespace
}  // namespace paceline::cli

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--probe-isa") return paceline::run_isa_probe(arguments[1]);
  if (arguments == std::vector<std::string>{paceline::bfloat16_trial}) return paceline::cli::try_bfloat16();
  paceline::install_interrupt_handlers();
  using paceline::cli::complain;
  try {
    return paceline::cli::with_flushed_output(paceline::cli::run_command(arguments));
  } catch (const paceline::InputError& error) {
    return complain(error.what(), 2);
  } catch (const paceline::Interrupted& error) {
    return complain(error.what(), 128 + error.signal());
  } catch (const std::bad_alloc&) {
    return complain("out of memory", 1);
  } catch (const std::system_error& error) {
    return error.code() == std::errc::broken_pipe ? paceline::cli::broken_pipe : complain(error.what(), 1);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
