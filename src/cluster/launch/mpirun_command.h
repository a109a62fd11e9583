// The command line that starts the workers.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "cluster/launch/host_list.h"

namespace paceline {

// Some of the workers: on one host, with the path that the program has there.
struct WorkerGroup {
  Host host;
  std::string program;
};

struct WorkerCommand {
  // On this machine alone: one group for it.
  std::vector<WorkerGroup> groups;
  std::vector<std::string> arguments;
  // Added to the environment of every worker.
  std::vector<std::pair<std::string, std::string>> environment;
  // How hosts are reached, as words ("ssh -o BatchMode=yes"); empty: all workers are on this machine.
  std::string ssh;
  // Where workers of this machine share memory; empty: Open MPI's own choice.
  fs::path shared_memory;
};

// Looks up mpirun. Throws InputError when it is missing or not Open MPI's; flag is what asked for it
// ("--workers 2").
fs::path find_mpirun(const std::string& flag);

std::vector<std::string> mpirun_command(const fs::path& mpirun, const WorkerCommand& command);

// Variables by which a launcher further up speaks to its own processes; a new launcher must not see them.
std::vector<std::string> variables_of_launchers();

}  // namespace paceline
