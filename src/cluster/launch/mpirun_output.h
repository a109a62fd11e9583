// Reads what comes out of mpirun's stderr: lines of workers, which are passed on, and its own banners,
// which are understood instead of shown.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launch/worker_message.h"

namespace paceline {

// The first worker whose end was not a good one, as mpirun tells it.
struct WorkerDeath {
  std::optional<unsigned> rank;  // none: a whole host was lost
  std::string host;
  int signal = 0;
  std::string signal_name;  // "Killed"
  int code = -1;            // -1: not told

  // "worker 1 on host b was killed by signal 9 (Killed)"
  std::string sentence(bool name_host) const;
};

class MpirunOutput {
 public:
  // shown: a line for the user, without its end. begun: the first worker has begun with the work.
  MpirunOutput(std::function<void(std::string_view)> shown, std::function<void()> begun)
      : shown_(std::move(shown)), begun_(std::move(begun)) {}
  void take(std::string_view bytes);
  // Nothing more comes.
  void finish();

  const std::vector<WorkerMessage>& last_words() const { return last_words_; }
  const std::optional<WorkerDeath>& death() const { return death_; }
  // mpirun's own words, for an end that nothing else explains; empty: it had none.
  const std::string& complaint() const { return complaint_; }

 private:
  void take_line(std::string_view line);
  void take_message(WorkerMessage message);
  void show(std::string_view line);
  void close_banner();
  void complain(std::string_view words);
  std::function<void(std::string_view)> shown_;
  std::function<void()> begun_;
  std::string rest_, banner_;
  bool in_banner_ = false;
  std::set<std::string, std::less<>> sentences_;
  std::vector<WorkerMessage> last_words_;
  std::optional<WorkerDeath> death_;
  std::string complaint_;
};

}  // namespace paceline
