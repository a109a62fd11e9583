// Chunks made by several threads and handed on in order, with a bounded number of them in memory.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline {

// Calls make(number, chunk) for every number in [0, chunks) on the given number of threads (0: one per core),
// and take(chunk) for each in order on the calling thread. Chunks are used again, to keep their memory. The
// first exception of either ends the work and is thrown again here.
template <typename Chunk, typename Make, typename Take>
void in_order(uint64_t chunks, unsigned threads, const Make& make, const Take& take) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, chunks));
  struct Place {
    Chunk chunk;
    bool full = false;
  };
  std::vector<Place> ring(threads * 2);
  std::mutex mutex;
  std::condition_variable freed, filled;
  uint64_t next = 0, taken = 0;
  bool stopping = false;
  std::exception_ptr failure;

  auto work = [&] {
    std::unique_lock lock(mutex);
    while (true) {
      freed.wait(lock, [&] { return stopping || next >= chunks || next < taken + ring.size(); });
      if (stopping || next >= chunks) return;
      uint64_t number = next++;
      Place& place = ring[number % ring.size()];
      lock.unlock();
      std::exception_ptr failed;
      try {
        make(number, place.chunk);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      place.full = true;
      if (failed && !failure) failure = failed;
      filled.notify_one();
    }
  };

  std::vector<std::jthread> crew;
  auto stop = [&] {
    std::lock_guard lock(mutex);
    stopping = true;
    freed.notify_all();
  };
  try {
    for (unsigned i = 0; i < threads; ++i) crew.emplace_back(work);
    for (uint64_t number = 0; number < chunks; ++number) {
      Place& place = ring[number % ring.size()];
      std::unique_lock lock(mutex);
      filled.wait(lock, [&] { return place.full || failure; });
      if (failure) std::rethrow_exception(failure);
      lock.unlock();
      take(place.chunk);
      lock.lock();
      place.full = false;
      ++taken;
      freed.notify_one();
    }
  } catch (...) {
    stop();
    throw;
  }
  stop();
}

}  // namespace paceline
