#include "cluster/launch/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "cluster/launch/launcher_process.h"
#include "cluster/launch/mpirun_output.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class Supervisor {
 public:
  Supervisor(const Launch& launch, LaunchListener& listener)
      : launch_(launch),
        listener_(listener),
        said_([&](std::string_view line) { listener_.line(line); }, [&] { listener_.begun(); }) {}

  void run() {
    SignalQueue signals;
    throw_if_interrupted();
    LauncherProcess mpirun(launch_);
    while (!mpirun.ended() || output_open_ || messages_open_) {
      wait(signals, mpirun);
      while (const int number = signals.take()) take_signal(number, mpirun);
      if (output_open_) output_open_ = drain(mpirun.output(), [&](auto bytes) { listener_.output(bytes); });
      if (messages_open_) messages_open_ = drain(mpirun.messages(), [&](auto bytes) { said_.take(bytes); });
      press(mpirun);
    }
    said_.finish();
    conclude(*mpirun.ended());
  }

 private:
  // Until something happens, or the next measure is due.
  void wait(const SignalQueue& signals, LauncherProcess& mpirun) const {
    pollfd waiting[] = {{signals.fd(), POLLIN, 0},
                        {output_open_ ? mpirun.output() : -1, POLLIN, 0},
                        {messages_open_ ? mpirun.messages() : -1, POLLIN, 0}};
    poll(waiting, std::size(waiting), interrupted_by_ != 0 || mpirun.ended() ? 100 : -1);
  }

  // Takes what is there now; false at the end.
  template <typename Take>
  static bool drain(int fd, const Take& take) {
    char buffer[16384];
    for (;;) {
      const ssize_t n = read(fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN;
      if (n == 0) return false;
      take(std::string_view(buffer, static_cast<size_t>(n)));
    }
  }

  // mpirun hands SIGUSR1 and SIGUSR2 to every worker, which take them for SIGINT and SIGTERM. The first
  // signal is handed on as the latter, whichever it was: it may be repeated.
  void take_signal(int number, LauncherProcess& mpirun) {
    if (number == SIGCHLD) return;
    if (number == SIGUSR1) number = SIGINT;
    if (number == SIGUSR2) number = SIGTERM;
    if (interrupted_by_ == 0) {
      interrupted_by_ = number;
    } else if (number == SIGINT && !ending_since_) {
      ending_since_ = Clock::now();
      mpirun.signal(SIGUSR1);
    }
  }

  void press(LauncherProcess& mpirun) {
    const auto now = Clock::now();
    if (mpirun.ended()) {
      // Its pipes may still be held by a worker that is about to go.
      if (!ended_since_) ended_since_ = now;
      if (now - *ended_since_ > 2s) output_open_ = messages_open_ = false;
    } else if (ending_since_) {
      press_to_end(now - *ending_since_, mpirun);
    } else if (interrupted_by_ != 0 && now >= next_request_) {
      // Again and again, because it is lost on workers that are not there yet.
      mpirun.signal(SIGUSR2);
      next_request_ = now + 500ms;
    }
  }

  // mpirun is asked before it is killed, so that workers on other hosts go too.
  void press_to_end(Clock::duration passed, LauncherProcess& mpirun) {
    if (passed > 5s) {
      mpirun.signal(SIGKILL);
    } else if (passed > 500ms && !asked_to_end_) {
      asked_to_end_ = true;
      mpirun.signal(SIGTERM);
    }
  }

  // Throws what the end was, unless it was a good one.
  void conclude(int status) const {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0) return;
    if (interrupted_by_ != 0) conclude_interrupted(status);
    if (const WorkerMessage* words = words_with([](int said) { return said == 2; }))
      throw InputError(quoted(*words));
    if (const auto& death = said_.death(); death && !spoke(*death))
      throw WorkError(with_advice(death->sentence(launch_.name_hosts), "others"));
    if (const WorkerMessage* words = words_with([](int said) { return said <= 128; }))
      throw WorkError(quoted(*words));
    // Someone has sent a signal to a worker, or to mpirun, which ends with the code of whoever went first.
    if (const WorkerMessage* words = words_with([&](int said) { return said == code; }))
      throw Interrupted(words->code - 128, words->sentence);
    if (WIFSIGNALED(status))
      throw WorkError(with_advice(
          fmt::format("mpirun was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))),
          "workers"));
    if (const std::string& words = said_.complaint(); !words.empty())
      work_error("mpirun could not run the workers: {}", words);
    throw WorkError(with_advice(unnamed_death(code), "others"));
  }

  // mpirun does not always say who it was.
  static std::string unnamed_death(int code) {
    if (code <= 128) return fmt::format("a worker ended with exit code {}", code);
    return fmt::format("a worker was killed by signal {} ({})", code - 128, strsignal(code - 128));
  }

  // Returns when the end has another reason than the signal.
  void conclude_interrupted(int status) const {
    if (const WorkerMessage* words = words_with([](int said) { return said > 128; }))
      throw Interrupted(interrupted_by_, words->sentence);
    // Who was not ready to take note of the signal was killed by it.
    const auto is_ours = [](int number) { return number == SIGUSR1 || number == SIGUSR2; };
    const bool by_signal = (WIFSIGNALED(status) && is_ours(WTERMSIG(status))) ||
                           (said_.death() && is_ours(said_.death()->signal));
    if (ending_since_ || by_signal || said_.last_words().empty()) throw Interrupted(interrupted_by_);
  }

  static std::string quoted(const WorkerMessage& words) {
    return words.rank == 0 ? words.sentence : fmt::format("worker {}: {}", words.rank, words.sentence);
  }

  // Whether the worker that died has said why itself.
  bool spoke(const WorkerDeath& death) const {
    return std::any_of(said_.last_words().begin(), said_.last_words().end(),
                       [&](const WorkerMessage& words) { return words.rank == death.rank; });
  }

  // The first that came with such an exit code, rank 0's before others'.
  template <typename Wanted>
  const WorkerMessage* words_with(const Wanted& wanted) const {
    const WorkerMessage* found = nullptr;
    for (const auto& words : said_.last_words())
      if (wanted(words.code) && (found == nullptr || (words.rank == 0 && found->rank != 0))) found = &words;
    return found;
  }

  std::string with_advice(const std::string& what, const char* stopped) const {
    const std::string advice = launch_.advice();
    return fmt::format("{}; the {} were stopped{}{}", what, stopped, advice.empty() ? "" : "; ", advice);
  }

  const Launch& launch_;
  LaunchListener& listener_;
  MpirunOutput said_;
  bool output_open_ = true, messages_open_ = true, asked_to_end_ = false;
  int interrupted_by_ = 0;
  Clock::time_point next_request_;
  std::optional<Clock::time_point> ending_since_, ended_since_;
};

}  // namespace

void supervise(const Launch& launch, LaunchListener& listener) { Supervisor(launch, listener).run(); }

}  // namespace paceline
