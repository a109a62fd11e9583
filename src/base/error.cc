#include "base/error.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace paceline {
namespace {

std::atomic<int> noted_signal{0};

// mpirun hands the two signals of the user's own to every worker, so they stand for the two that it keeps.
int meaning_of(int number) { return number == SIGUSR1 ? SIGINT : number == SIGUSR2 ? SIGTERM : number; }

void note_signal(int received) {
  const int number = meaning_of(received);
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
  for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int noted_interrupt() { return noted_signal.load(std::memory_order_relaxed); }

void throw_if_interrupted() {
  if (int number = noted_interrupt()) throw Interrupted(number);
}

}  // namespace paceline
