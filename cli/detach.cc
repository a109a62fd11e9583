#include "cli/detach.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline::cli {
namespace {

void become(const char* path, int flags, int target) {
  const int fd = open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0) work_error("{}: cannot be opened: {}", path, std::strerror(errno));
  dup2(fd, target);
  close(fd);
}

}  // namespace

Detached::Detached() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) work_error("--detach: no pipe: {}", std::strerror(errno));
  std::fflush(nullptr);
  child_ = fork();
  if (child_ < 0) work_error("--detach: no process: {}", std::strerror(errno));
  pipe_ = ends[is_parent() ? 0 : 1];
  close(ends[is_parent() ? 1 : 0]);
  if (is_parent()) return;
  setsid();
  become("/dev/null", O_RDONLY, STDIN_FILENO);
}

bool Detached::has_begun(int& code) const {
  pollfd wait = {pipe_, POLLIN, 0};
  while (poll(&wait, 1, -1) < 0) try {
      throw_if_interrupted();
    } catch (...) {
      kill(child_, SIGTERM);
      throw;
    }
  char sign = 0;
  if (read(pipe_, &sign, 1) == 1) return true;
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

void Detached::begin(const fs::path& console) {
  if (pipe_ < 0) return;
  std::fflush(nullptr);
  become(console.c_str(), O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  dup2(STDOUT_FILENO, STDERR_FILENO);
  const int told = std::exchange(pipe_, -1);
  if (write(told, "+", 1) != 1) work_error("--detach: the terminal's process is gone");
  close(told);
}

void DetachedProgress::begin(std::string_view phase, uint64_t total, std::string_view unit) {
  job_.begin(console_);
  if (!inner_) inner_ = std::make_unique<TerminalProgress>();
  inner_->begin(phase, total, unit);
}

}  // namespace paceline::cli
