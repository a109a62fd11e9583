// Runs another program, with a time limit and a bounded memory of what it said.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace paceline {

struct ProcessResult {
  bool started = false;    // false: the program could not be run at all; output is the reason
  int exit_code = -1;      // -1 unless it ended by itself
  int signal = 0;          // the signal that ended it, ours (SIGKILL) when it timed out
  bool timed_out = false;  // it was still running at the time limit, and was killed
  std::string output;      // stdout and stderr as they came, the first 64 kB
  bool succeeded() const { return started && !timed_out && exit_code == 0; }
};

// What the child sees differently from us. Removing comes first.
struct EnvironmentEdits {
  std::vector<std::string> remove_prefixes;                 // "OMPI_"
  std::vector<std::pair<std::string, std::string>> assign;  // name, value
};

// A child that inherits a rank's environment believes to be that rank and hangs in MPI_Init.
EnvironmentEdits without_launcher();

// Runs argv (argv[0] is looked up in PATH when it has no slash) with nothing on stdin and waits for it.
// At the time limit the child is killed with every process it started in its group.
ProcessResult run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                          const EnvironmentEdits& edits = {});

}  // namespace paceline
