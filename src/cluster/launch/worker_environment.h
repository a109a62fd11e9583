// Whether this process was started as one of several workers, as told by the environment that mpirun or
// srun gives it.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace paceline {

// The value of a variable; none when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

struct WorkerEnvironment {
  unsigned rank = 0, size = 1;
  std::optional<unsigned> local_rank, local_size;  // on its machine, where the launcher says so
  bool bound = false;                              // to cores of its own, by the launcher
  bool supervised = false;                         // by a `paceline train` that started the launcher
  std::string terminal;                            // of that one, to draw on; empty: there is none
};

// None when this process is alone: not started by a launcher of MPI, or as its only worker. A shell of
// salloc, a batch script and `srun -n 1` are no workers. One worker that a supervisor has started (on
// another host) is one.
std::optional<WorkerEnvironment> worker_environment(const Environment& environment = process_environment());

// From now on this process goes when its launcher does, however that ends. The caller has one thread.
void end_with_launcher();

// How the supervisor speaks to the workers that it has started.
inline constexpr const char* supervised_variable = "PACELINE_SUPERVISED";
inline constexpr const char* terminal_variable = "PACELINE_TERMINAL";

}  // namespace paceline
