#include "base/machine/software.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "base/machine/proc.h"
#include "base/subprocess.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

std::string first_line(std::string_view text) {
  text = trimmed(text);
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

std::string failure_of(const ProcessResult& result) {
  if (!result.started) return "it cannot be started: " + result.output;
  if (result.timed_out) return "no answer within the time limit";
  std::string said = first_line(result.output);
  return said.empty() ? "it failed without a message" : said;
}

// Open MPI first (what the exchange is built for), then what other MPIs are called.
std::string find_mpi_library() {
  for (const char* name : {"libmpi.so.40", "libmpi.so", "libmpi.so.12", "libmpich.so.12"}) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    dlclose(handle);
    return name;
  }
  return {};
}

// mpirun (Hydra) tells its version on a line of its own.
std::string mpi_version(std::string_view output) {
  if (std::optional<std::string_view> version = proc_field(output, "    Version"))
    return "MPICH (Hydra) " + std::string(*version);
  return first_line(output);
}

}  // namespace

std::optional<fs::path> find_program(std::string_view name, std::optional<std::string_view> search) {
  const char* environment = std::getenv("PATH");
  std::istringstream folders{std::string(search.value_or(environment ? environment : "/usr/bin:/bin"))};
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

MpiFacts examine_mpi(std::optional<std::string_view> search) {
  MpiFacts facts;
  facts.library = find_mpi_library();
  facts.mpirun = find_program("mpirun", search);
  if (!facts.mpirun) return facts;
  ProcessResult result = run_process({facts.mpirun->string(), "--version"}, 2s, without_launcher());
  if (result.succeeded()) {
    facts.version = mpi_version(result.output);
  } else {
    facts.problem = failure_of(result);
  }
  return facts;
}

SlurmFacts examine_slurm(std::optional<std::string_view> search) {
  SlurmFacts facts;
  facts.srun = find_program("srun", search);
  facts.sinfo = find_program("sinfo", search);
  if (facts.srun) {
    ProcessResult version = run_process({facts.srun->string(), "--version"}, 2s);
    if (version.succeeded()) facts.version = first_line(version.output);
  }
  if (!facts.sinfo) return facts;
  ProcessResult result = run_process({facts.sinfo->string(), "--noheader", "--Node", "--format=%N"}, 2s);
  facts.answers = result.succeeded();
  if (!facts.answers) {
    facts.problem = result.timed_out ? "no answer from sinfo within 2 s" : failure_of(result);
    return facts;
  }
  std::istringstream lines(result.output);
  std::string last;
  // A node is listed once per partition, one after another.
  for (std::string line; std::getline(lines, line); last = line)
    if (!trimmed(line).empty() && line != last) ++facts.nodes;
  return facts;
}

}  // namespace paceline
