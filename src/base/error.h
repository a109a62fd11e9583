// The two ways in which a job ends early. Both are caught once, in main.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace paceline {

// The user's input or usage is wrong: exit 2. The message is one sentence that names the file, line,
// flag or value, and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Something failed while working (a full disk, a read error): exit 1.
class WorkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// SIGINT or SIGTERM asked us to leave: exit 128 + signal, after everything half-done is removed.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number, const std::string& message = "interrupted");
  int signal() const { return signal_; }

 private:
  int signal_;
};

template <typename... Args>
[[noreturn]] void input_error(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void work_error(fmt::format_string<Args...> format, Args&&... args) {
  throw WorkError(fmt::format(format, std::forward<Args>(args)...));
}

// A mistake of ours: ends the program with its context.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

// Installs handlers for SIGINT and SIGTERM that only take note; a second SIGINT ends the program now. SIGUSR1
// is taken for SIGINT and SIGUSR2 for SIGTERM.
void install_interrupt_handlers();
// The signal that was noted, or 0.
int noted_interrupt();
// Throws Interrupted when a signal was noted. Long loops call it every so often.
void throw_if_interrupted();

}  // namespace paceline

#define PACELINE_ASSERT(condition) \
  ((condition) ? void(0) : ::paceline::assertion_failed(#condition, __FILE__, __LINE__))
