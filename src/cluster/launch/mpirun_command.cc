#include "cluster/launch/mpirun_command.h"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/machine/software.h"

namespace paceline {
namespace {

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Containers often forbid what Open MPI copies between processes with, and it then complains at every
// message.
bool processes_may_read_each_other() {
  int value = 7, copy = 0;
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  if (child < 0) return false;
  const iovec here = {&copy, sizeof copy}, there = {&value, sizeof value};
  const bool may = process_vm_readv(child, &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof copy);
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return may;
}

void add_common_options(std::vector<std::string>& words) {
  // Workers share out the cores themselves, by limits that mpirun does not see.
  add(words, {"--bind-to", "none", "--oversubscribe"});
  if (geteuid() == 0) add(words, {"--allow-run-as-root"});
  // A worker goes with the thread that started it, so that has to be mpirun's first.
  add(words, {"--mca", "odls_base_num_threads", "0"});
}

void add_local_options(std::vector<std::string>& words, const fs::path& shared_memory) {
  add(words, {"--mca", "plm", "isolated", "--mca", "pml", "ob1", "--mca", "btl", "self,vader"});
  if (!shared_memory.empty()) add(words, {"--mca", "btl_vader_backing_directory", shared_memory.string()});
  if (!processes_may_read_each_other()) add(words, {"--mca", "btl_vader_single_copy_mechanism", "none"});
}

void add_host_options(std::vector<std::string>& words, const std::string& ssh) {
  add(words, {"--mca", "plm", "rsh", "--mca", "plm_rsh_agent", ssh, "--mca", "plm_rsh_no_tree_spawn", "1"});
  // A host that was switched off is noticed after about ten seconds.
  add(words, {"--mca", "oob_tcp_keepalive_time", "4", "--mca", "oob_tcp_keepalive_intvl", "2", "--mca",
              "oob_tcp_keepalive_probes", "3"});
}

}  // namespace

fs::path find_mpirun(const std::string& flag) {
  const MpiFacts mpi = examine_mpi();
  const char* advice = "install it (Debian: apt-get install openmpi-bin); one worker needs nothing";
  if (!mpi.mpirun) input_error("{} needs Open MPI, and there is no mpirun; {}", flag, advice);
  if (!mpi.problem.empty())
    input_error("{} needs Open MPI, and {} does not work: {}", flag, mpi.mpirun->string(), mpi.problem);
  if (mpi.version.find("Open MPI") == std::string::npos)
    input_error("{} needs Open MPI, and {} is {}; {}", flag, mpi.mpirun->string(), mpi.version, advice);
  return *mpi.mpirun;
}

std::vector<std::string> mpirun_command(const fs::path& mpirun, const WorkerCommand& command) {
  PACELINE_ASSERT(!command.groups.empty());
  std::vector<std::string> words = {mpirun.string()};
  add_common_options(words);
  command.ssh.empty() ? add_local_options(words, command.shared_memory)
                      : add_host_options(words, command.ssh);
  for (size_t i = 0; i < command.groups.size(); ++i) {
    const auto& [host, program] = command.groups[i];
    if (i > 0) words.emplace_back(":");
    add(words,
        {"--host", fmt::format("{}:{}", host.name, host.workers), "-np", std::to_string(host.workers)});
    for (const auto& [name, value] : command.environment) add(words, {"-x", name});
    words.push_back(program);
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  }
  return words;
}

std::vector<std::string> variables_of_launchers() {
  return {"OMPI_COMM_", "OMPI_APP_", "OMPI_UNIVERSE_", "OMPI_FIRST_",    "OMPI_FILE_",
          "OMPI_NUM_",  "OMPI_ARGV", "OMPI_COMMAND",   "OMPI_MCA_orte_", "OMPI_MCA_ess",
          "PMIX_",      "PMI_",      "SLURM_"};
}

}  // namespace paceline
