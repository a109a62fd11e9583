// Runs the launcher of the workers and watches over it to its end: passes on what workers say, forwards
// signals, and leaves no process behind.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline {

// Called by supervise(), in its thread.
class LaunchListener {
 public:
  virtual ~LaunchListener() = default;
  virtual void output(std::string_view bytes) = 0;  // of the workers' stdout, as they came
  virtual void line(std::string_view line) = 0;     // for stderr, without its end
  virtual void begun() = 0;                         // the run has begun
};

struct Launch {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  // added for the launcher
  bool name_hosts = false;                                       // in messages
  std::function<std::string()> advice;                           // what to do after a worker died
};

// Returns when all workers have come to a good end. Throws InputError or WorkError in the words of the
// worker that failed, or that say who died and how; and Interrupted when SIGINT or SIGTERM made all of them
// save and leave. A second SIGINT ends them at once. The caller has one thread. Should this process die,
// the launcher and the workers go too.
void supervise(const Launch& launch, LaunchListener& listener);

}  // namespace paceline
