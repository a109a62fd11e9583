// How the workers of a run add up integers. One interface, three ways: in one process, over MPI, over NCCL.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace paceline {

// Every worker starts the same operations, on as many numbers, in the same order. Any thread may start
// one, but only one thread at a time. Whoever waits sleeps: a core is never burnt.
class Exchange {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Exchange() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  // Among the workers on the same machine.
  virtual unsigned local_rank() const = 0;
  virtual unsigned local_size() const = 0;

  // Begins to replace the values by their sums (maxima) over all workers, in the background, and returns
  // its number. The values may not be touched until wait() has returned.
  virtual uint64_t start_sum(std::span<int32_t> values) = 0;
  virtual uint64_t start_max(std::span<uint32_t> values) = 0;
  // Sleeps until that operation is done, and says when it was. Once for each operation.
  virtual Clock::time_point wait(uint64_t operation) = 0;
  // The bytes of rank 0, on every worker; returns when they are there.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  // Bytes that this worker has sent so far, computed from what was started: a ring sends 2 (size - 1) / size
  // of the numbers each time; a broadcast counts once, at rank 0. Headers of messages and packets are not in
  // it.
  virtual uint64_t sent_bytes() const = 0;
  // From any thread: whatever is waited for from now on, and now, throws WorkError with this reason.
  virtual void give_up(const std::string& reason) = 0;
  // Every worker has come to its end. Not called after give_up().
  virtual void leave() = 0;
};

// One worker alone: nothing is exchanged.
std::unique_ptr<Exchange> make_single_exchange();

// Opens libpaceline_mpi.so ("mpi") or libpaceline_nccl.so ("nccl") beside the program. Throws InputError
// with one sentence that says what is missing and what to do.
std::unique_ptr<Exchange> open_exchange(const std::string& kind);

// The one symbol of each of the two libraries: the exchange, or nullptr and the reason in *problem.
extern "C" Exchange* paceline_make_exchange(std::string* problem);

}  // namespace paceline
