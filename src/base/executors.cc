#include "base/executors.h"

#include "base/denormals.h"
#include "base/error.h"

namespace paceline {

Executors::Executors(unsigned count) {
  PACELINE_ASSERT(count > 0);
  try {
    for (unsigned i = 1; i < count; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {
    const size_t made = threads_.size() + 1;
    stop();
    input_error("--executors {}: only {} threads can be made here; use fewer", count, made);
  }
}

Executors::~Executors() { stop(); }

void Executors::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Executors::take_tasks(unsigned executor) {
  const FlushDenormals flush;
  for (;;) {
    uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= tasks_) return;
    try {
      (*task_)(number, executor);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_.store(tasks_, std::memory_order_relaxed);
    }
  }
}

void Executors::work(unsigned executor) {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      started_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    take_tasks(executor);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) finished_.notify_one();
  }
}

void Executors::run(uint64_t tasks, const std::function<void(uint64_t, unsigned)>& task) {
  {
    std::lock_guard lock(mutex_);
    task_ = &task;
    tasks_ = tasks;
    next_ = 0;
    failure_ = nullptr;
    busy_ = static_cast<unsigned>(threads_.size());
    ++generation_;
  }
  started_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return busy_ == 0; });
  task_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace paceline
