#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

extern char** environ;

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t max_output = 64 * 1024;

struct Descriptor {
  int fd = -1;
  ~Descriptor() { close(); }
  void close() {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
};

std::vector<std::string> edited_environment(const EnvironmentEdits& edits) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    std::string_view name = text.substr(0, text.find('='));
    bool removed = std::any_of(edits.remove_prefixes.begin(), edits.remove_prefixes.end(),
                               [&](const std::string& prefix) { return name.starts_with(prefix); });
    bool replaced = std::any_of(edits.assign.begin(), edits.assign.end(),
                                [&](const auto& assigned) { return assigned.first == name; });
    if (!removed && !replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : edits.assign) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Returns 0 or an errno. The child leads a group of its own and has the default signal handling back.
int spawn(std::vector<std::string> argv, const EnvironmentEdits& edits, int output_fd, pid_t& pid) {
  std::vector<std::string> environment = edited_environment(edits);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int failure = posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(),
                             pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

// Takes what is there now; false at the end of the output.
bool drain(int fd, std::string& output) {
  char buffer[4096];
  for (;;) {
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    output.append(buffer, std::min(static_cast<size_t>(n), max_output - output.size()));
  }
}

// Leaves the child a zombie, so that its group id stays ours until it is reaped.
bool has_ended(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

}  // namespace

EnvironmentEdits without_launcher() { return {{"OMPI_", "PMIX_", "PMI_", "SLURM_"}, {}}; }

ProcessResult run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                          const EnvironmentEdits& edits) {
  PACELINE_ASSERT(!argv.empty());
  ProcessResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) work_error("running {}: no pipe: {}", argv[0], std::strerror(errno));
  Descriptor ours{ends[0]}, theirs{ends[1]};
  fcntl(ours.fd, F_SETFL, O_NONBLOCK);
  pid_t pid = -1;
  if (int failure = spawn(argv, edits, theirs.fd, pid); failure != 0) {
    result.output = std::strerror(failure);
    return result;
  }
  result.started = true;
  theirs.close();

  Clock::time_point deadline = Clock::now() + timeout;
  bool open = true, ended = false;
  while (!(ended = has_ended(pid)) && Clock::now() < deadline && noted_interrupt() == 0) {
    // A child may end while a grandchild keeps the pipe open, so neither event alone is waited for.
    pollfd waiting{open ? ours.fd : -1, POLLIN, 0};
    poll(&waiting, 1, 5);
    if (open) open = drain(ours.fd, result.output);
  }
  result.timed_out = !ended;
  if (!ended) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (open) drain(ours.fd, result.output);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (!ended) throw_if_interrupted();
  return result;
}

}  // namespace paceline
