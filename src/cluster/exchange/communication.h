// The thread that moves collective operations on, and what others share with it.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/exchange/collectives.h"

namespace paceline {

// run() is the thread's; every other function may be called by any other thread. The thread sleeps while
// nothing is under way, and naps between two looks while something is: libraries of collectives move
// nothing by themselves while their caller computes.
class Communication {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Communication(std::unique_ptr<Collectives> collectives);

  // Opens the collectives, serves until told to stop, and closes them unless something failed.
  void run();

  // Returns when they are open; throws what opening them threw.
  void wait_until_open();
  // Constant once they are.
  const Place& place() const { return place_; }
  // These throw WorkError after a failure. An operation is waited for once.
  uint64_t start(CollectiveKind kind, std::span<std::byte> bytes);
  Clock::time_point wait(uint64_t operation);
  void close();
  uint64_t sent_bytes() const;
  void fail(const std::string& reason);
  // False: the thread hangs in a call that may never return.
  bool has_stopped_after_failure();

 private:
  struct Order {
    std::vector<Collective> fresh;
    bool stop = false;
    bool awaited = false;  // somebody sleeps until an operation is done
    bool hurry = false;    // since now
  };
  void open();
  void serve();
  bool look();
  Order next_order(std::chrono::microseconds nap);
  void note_end_of(const std::vector<uint64_t>& operations);
  bool is_closing() const;
  bool is_busy() const { return under_way_ > 0 || collectives_->is_sending(); }
  void throw_if_failed(std::unique_lock<std::mutex>& lock);

  // The thread's own: the collectives, and how many operations are started and not ended.
  const std::unique_ptr<Collectives> collectives_;
  size_t under_way_ = 0;

  Place place_;

  mutable std::mutex mutex_;
  std::condition_variable work_;  // the thread waits for it
  std::condition_variable news_;  // everybody else does
  std::deque<Collective> queue_;  // not started yet
  // Those that nobody has waited for yet, with the moment in which they ended.
  std::map<uint64_t, std::optional<Clock::time_point>> moments_;
  uint64_t last_number_ = 0;
  unsigned waiting_ = 0;  // threads that sleep in wait()
  bool hurry_ = false;    // one has begun to
  uint64_t sent_bytes_ = 0;
  bool opened_ = false, closing_ = false, stopped_ = false;
  std::exception_ptr unopened_;         // what open() threw
  std::optional<std::string> failure_;  // why nothing works any more
};

}  // namespace paceline
