#include "cluster/launch/launcher_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "cluster/launch/mpirun_command.h"

extern char** environ;

namespace paceline {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, number);
  return set;
}

void edit_environment(const Launch& launch) {
  const std::vector<std::string> prefixes = variables_of_launchers();
  std::vector<std::string> foreign;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&](const auto& prefix) { return name.starts_with(prefix); }))
      foreign.emplace_back(name);
  }
  for (const auto& name : foreign) unsetenv(name.c_str());
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void become_launcher(const Launch& launch, pid_t parent, int output, int messages) {
  setsid();
  // Asked to end rather than killed: it then takes its workers on all hosts along.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  edit_environment(launch);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> words;
  for (const auto& word : launch.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  dprintf(STDERR_FILENO, "mpirun: %s cannot be started: %s\n", words[0], std::strerror(errno));
  _exit(127);
}

}  // namespace

SignalQueue::SignalQueue() {
  const sigset_t set = watched_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) work_error("signals cannot be watched: {}", std::strerror(errno));
}

SignalQueue::~SignalQueue() {
  const sigset_t set = watched_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  close(fd_);
}

int SignalQueue::take() {
  signalfd_siginfo info = {};
  return read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo)
                                                                            : 0;
}

LauncherProcess::LauncherProcess(const Launch& launch) {
  int output[2], messages[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(messages, O_CLOEXEC) != 0)
    work_error("workers cannot be started: no pipe: {}", std::strerror(errno));
  std::fflush(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become_launcher(launch, parent, output[1], messages[1]);
  if (pid_ < 0) work_error("workers cannot be started: no process: {}", std::strerror(errno));
  close(output[1]);
  close(messages[1]);
  output_ = output[0];
  messages_ = messages[0];
  for (int fd : {output_, messages_}) fcntl(fd, F_SETFL, O_NONBLOCK);
}

LauncherProcess::~LauncherProcess() {
  if (!ended()) {
    signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  close(output_);
  close(messages_);
}

void LauncherProcess::signal(int number) const {
  if (!status_) kill(pid_, number);
}

std::optional<int> LauncherProcess::ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

}  // namespace paceline
