// A fixed crew of threads that share numbered tasks.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline {

// Which thread takes which task is left to chance, so a task may depend on its number alone, never on
// the executor it runs on.
class Executors {
 public:
  explicit Executors(unsigned count);
  ~Executors();
  Executors(const Executors&) = delete;
  Executors& operator=(const Executors&) = delete;
  unsigned count() const { return static_cast<unsigned>(threads_.size()) + 1; }

  // Calls task(number, executor) for every number in [0, tasks) and returns when all are done; the
  // caller is executor 0. The first exception is thrown again here.
  void run(uint64_t tasks, const std::function<void(uint64_t, unsigned)>& task);

 private:
  void stop();
  void work(unsigned executor);
  void take_tasks(unsigned executor);
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable started_, finished_;
  const std::function<void(uint64_t, unsigned)>* task_ = nullptr;
  uint64_t tasks_ = 0, generation_ = 0;
  std::atomic<uint64_t> next_{0};
  unsigned busy_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace paceline
