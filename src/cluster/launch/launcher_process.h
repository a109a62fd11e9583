// mpirun as a child process in a session of its own, so that a Ctrl-C in the terminal does not reach it.
#pragma once
#include <sys/types.h>

#include <optional>

#include "cluster/launch/supervisor.h"

namespace paceline {

// Signals of this process as something to poll for, as long as the object lives.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  int fd() const { return fd_; }
  // The next signal; 0: there is none.
  int take();

 private:
  int fd_ = -1;
};

class LauncherProcess {
 public:
  // The caller has one thread, and a SignalQueue.
  explicit LauncherProcess(const Launch& launch);
  // Kills it if it still runs; the workers then go by themselves.
  ~LauncherProcess();
  LauncherProcess(const LauncherProcess&) = delete;
  LauncherProcess& operator=(const LauncherProcess&) = delete;
  int output() const { return output_; }
  int messages() const { return messages_; }
  void signal(int number) const;
  // The status of waitpid when it has ended.
  std::optional<int> ended();

 private:
  pid_t pid_ = -1;
  int output_ = -1, messages_ = -1;
  std::optional<int> status_;
};

}  // namespace paceline
