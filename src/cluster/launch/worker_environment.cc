#include "cluster/launch/worker_environment.h"

#include <signal.h>
#include <sys/prctl.h>

#include <charconv>
#include <cstdlib>

namespace paceline {
namespace {

std::optional<unsigned> number(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  unsigned value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

bool is_set(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  return text && !text->empty();
}

std::optional<WorkerEnvironment> of_mpirun(const Environment& environment) {
  const auto rank = number(environment, "OMPI_COMM_WORLD_RANK");
  const auto size = number(environment, "OMPI_COMM_WORLD_SIZE");
  if (!rank || !size) return std::nullopt;
  WorkerEnvironment worker{*rank, *size, {}, {}, false, false, {}};
  worker.local_rank = number(environment, "OMPI_COMM_WORLD_LOCAL_RANK");
  worker.local_size = number(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
  worker.bound = is_set(environment, "OMPI_MCA_orte_bound_at_launch");
  return worker;
}

// "4(x3),2": tasks on each machine of the step; known for all when it names one number.
std::optional<unsigned> tasks_per_node(const Environment& environment) {
  const std::string text = environment("SLURM_STEP_TASKS_PER_NODE").value_or("");
  if (text.empty() || text.find(',') != std::string::npos) return std::nullopt;
  return number([&](const char*) { return text.substr(0, text.find('(')); }, "");
}

bool binds_cores(const std::string& slurm_cpu_bind) {
  return slurm_cpu_bind.find("map_cpu") != std::string::npos ||
         slurm_cpu_bind.find("mask_cpu") != std::string::npos ||
         slurm_cpu_bind.find("rank") != std::string::npos;
}

// srun has started a step, and with --mpi=pmix or pmi2 it also speaks for MPI. Without, every process of
// the step would be a world of its own.
std::optional<WorkerEnvironment> of_srun(const Environment& environment) {
  const auto rank = number(environment, "SLURM_PROCID");
  auto size = number(environment, "SLURM_STEP_NUM_TASKS");
  if (!size) size = number(environment, "SLURM_NTASKS");
  const bool speaks_mpi =
      is_set(environment, "PMIX_RANK") || is_set(environment, "PMI_RANK") || is_set(environment, "PMI_FD");
  if (!rank || !size || !is_set(environment, "SLURM_STEP_ID") || !speaks_mpi) return std::nullopt;
  WorkerEnvironment worker{*rank, *size, {}, {}, false, false, {}};
  worker.local_rank = number(environment, "SLURM_LOCALID");
  worker.local_size = tasks_per_node(environment);
  worker.bound = binds_cores(environment("SLURM_CPU_BIND").value_or(""));
  return worker;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::optional<WorkerEnvironment> worker_environment(const Environment& environment) {
  std::optional<WorkerEnvironment> worker = of_mpirun(environment);
  if (!worker) worker = of_srun(environment);
  if (!worker || worker->rank >= worker->size) return std::nullopt;
  worker->supervised = is_set(environment, supervised_variable);
  if (worker->size < 2 && !worker->supervised) return std::nullopt;
  worker->terminal = environment(terminal_variable).value_or("");
  return worker;
}

void end_with_launcher() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace paceline
