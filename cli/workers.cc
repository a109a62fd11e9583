#include "cli/workers.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "cli/engine_library.h"
#include "cli/terminal_progress.h"
#include "cluster/launch/cores.h"
#include "cluster/launch/mpirun_command.h"
#include "cluster/launch/program_files.h"
#include "cluster/launch/remote_hosts.h"
#include "cluster/launch/shared_memory.h"
#include "cluster/launch/supervisor.h"
#include "cluster/launch/worker_message.h"

namespace paceline::cli {
namespace {

// What a worker has drawn on the terminal and not ended.
void clear_live_line() {
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[K");
}

void print_line(std::string_view line) {
  clear_live_line();
  fmt::print(stderr, "{}\n", line);
}

// Shows what workers print.
class Console final : public LaunchListener {
 public:
  Console(Detached* job, fs::path file) : job_(job), file_(std::move(file)) {}
  void output(std::string_view bytes) override { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }
  void line(std::string_view line) override { print_line(line); }
  void begun() override {
    if (job_ != nullptr) job_->begin(file_);
  }

 private:
  Detached* job_;
  fs::path file_;
};

// Rank 0 draws; its supervisor is told when the work begins.
class WorkerProgress final : public Progress {
 public:
  explicit WorkerProgress(const WorkerEnvironment& worker)
      : supervised_(worker.supervised), drawn_(worker.terminal) {}
  void begin(std::string_view phase, uint64_t total, std::string_view unit) override {
    if (std::exchange(supervised_, false)) std::fputs(to_line({}).c_str(), stderr);
    drawn_.begin(phase, total, unit);
  }
  void update(uint64_t done, std::string_view note) override { drawn_.update(done, note); }
  void end() override { drawn_.end(); }
  void skip(uint64_t done) override { drawn_.skip(done); }
  void say(std::string_view sentence) override { drawn_.say(sentence); }

 private:
  bool supervised_;
  TerminalProgress drawn_;
};

// What the live line is drawn on; empty: rank 0 cannot reach it.
std::string terminal_for(const std::vector<Host>& hosts, const Detached* job) {
  if (job != nullptr || (!hosts.empty() && !is_this_machine(hosts[0].name))) return {};
  char name[256] = {};
  return ttyname_r(STDERR_FILENO, name, sizeof name) == 0 ? name : "";
}

std::string asked_by(const TrainOptions& options) {
  return options.hosts.empty() ? fmt::format("--workers {}", options.workers) : "--hosts";
}

std::vector<Host> hosts_of(const TrainOptions& options) {
  if (options.hosts.empty()) return {};
  std::vector<Host> hosts = parse_hosts(options.hosts);
  if (options.workers > 1 && options.workers != workers_of(hosts))
    input_error("--workers {}: --hosts names {} workers; leave --workers out", options.workers,
                workers_of(hosts));
  return hosts;
}

WorkerCommand command_for(const TrainOptions& options, const std::vector<Host>& hosts,
                          std::span<const std::string> arguments) {
  WorkerCommand command;
  command.arguments = {"train"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  // A resumed run's device is known to rank 0 alone, and all need it to open their exchange.
  if (options.resume && options.device == "cuda")
    command.arguments.insert(command.arguments.end(), {"--device", "cuda"});
  command.environment = {{supervised_variable, "1"}};
  if (hosts.empty()) {
    command.groups.push_back(
        {Host{"localhost", static_cast<unsigned>(options.workers)}, this_program().string()});
    return command;
  }
  command.ssh = ssh_command();
  command.groups =
      prepare_hosts(hosts, command.ssh, [](const std::string& remark) { print_line("paceline: " + remark); });
  return command;
}

// Empty when the workers did not come as far as to make the run's folder.
std::string how_to_go_on(const TrainOptions& options, const std::vector<Host>& hosts) {
  const bool elsewhere = !hosts.empty() && !is_this_machine(hosts[0].name);
  std::error_code ignored;
  if (!elsewhere && !fs::exists(fs::path(options.out) / "config.yaml", ignored)) return {};
  const std::string workers = hosts.empty() ? fmt::format("--workers {}", options.workers)
                                            : fmt::format("--hosts {}", fmt::join(options.hosts, ","));
  return fmt::format("go on with: paceline train --out {} --resume {}", options.out, workers);
}

}  // namespace

bool has_workers(const TrainOptions& options) { return options.workers > 1 || !options.hosts.empty(); }

bool has_run_folder(const std::optional<WorkerEnvironment>& worker, const TrainOptions& options) {
  if (worker) return worker->rank == 0;
  return options.hosts.empty() || is_this_machine(parse_hosts(options.hosts)[0].name);
}

int launch_workers(const TrainOptions& options, std::span<const std::string> arguments, Detached* job) {
  const std::vector<Host> hosts = hosts_of(options);
  if (job != nullptr && !hosts.empty() && !is_this_machine(hosts[0].name))
    input_error("--detach: the run's folder will be on {}, not here; name this machine first in --hosts",
                hosts[0].name);
  const fs::path mpirun = find_mpirun(asked_by(options));
  WorkerCommand command = command_for(options, hosts, arguments);
  if (const std::string terminal = terminal_for(hosts, job); !terminal.empty())
    command.environment.emplace_back(terminal_variable, terminal);
  const SharedMemoryFolder memory;
  command.shared_memory = memory.path();
  const Launch launch{mpirun_command(mpirun, command), command.environment, !hosts.empty(),
                      [&] { return how_to_go_on(options, hosts); }};
  Console console(job, fs::path(options.out) / "console.txt");
  try {
    supervise(launch, console);
    return 0;
  } catch (...) {
    clear_live_line();
    throw;
  }
}

TrainResult train_as_worker(const WorkerEnvironment& worker, TrainOptions options) {
  if (worker.supervised) end_with_launcher();
  // Never destroyed when something is thrown: see end_worker.
  static const std::unique_ptr<Exchange> exchange = open_exchange(options.device == "cuda" ? "nccl" : "mpi");
  options.device_number = exchange->local_rank();
  const CoreShare share = take_share_of_cores(exchange->local_rank(), exchange->local_size(), worker.bound);
  if (options.executors == 0) options.executors = share.executors;
  options.detach = false;
  NoProgress nothing;
  WorkerProgress shown(worker);
  Progress& progress = worker.rank == 0 ? static_cast<Progress&>(shown) : nothing;
  try {
    TrainResult result = engine().train(options, *exchange, progress);
    exchange->leave();
    return result;
  } catch (const Interrupted&) {
    // All leave at the same step, and rank 0 has to have saved before mpirun sees anyone go.
    exchange->leave();
    throw;
  } catch (const std::exception& problem) {
    // Without a sentence: all workers have found the same, rank 0 says it and ends them all.
    if (problem.what()[0] != '\0') throw;
    exchange->leave();
    _exit(0);
  }
}

void refuse_own_workers(FieldTable& table) {
  for (const char* name : {"workers", "hosts", "detach"})
    if (table.find(name)->is_set)
      input_error("--{}: mpirun or srun has started the workers; leave it out", name);
}

void end_worker(const WorkerEnvironment& worker, const std::string& sentence, int code) {
  std::fflush(stdout);
  if (worker.supervised)
    std::fputs(to_line({WorkerMessage::Kind::last_words, worker.rank, code, sentence}).c_str(), stderr);
  else if (worker.rank == 0)
    fmt::print(stderr, "paceline: {}\n", sentence);
  else
    fmt::print(stderr, "paceline: worker {}: {}\n", worker.rank, sentence);
  std::fflush(stderr);
  _exit(code);
}

}  // namespace paceline::cli
