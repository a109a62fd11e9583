#include "base/error.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace paceline {
namespace {

std::atomic<int> noted_signal{0};

void note_signal(int number) {
  if (noted_signal.exchange(number) != 0 && number == SIGINT) _exit(128 + number);
}

}  // namespace

Interrupted::Interrupted(int signal_number, const std::string& message)
    : std::runtime_error(message), signal_(signal_number) {}

void assertion_failed(const char* condition, const char* file, int line) {
  fmt::print(stderr, "paceline: internal error at {}:{}: {} does not hold\n", file, line, condition);
  std::abort();
}

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void throw_if_interrupted() {
  if (int number = noted_signal.load(std::memory_order_relaxed)) throw Interrupted(number);
}

}  // namespace paceline
