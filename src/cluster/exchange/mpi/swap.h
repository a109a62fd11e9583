// How two workers of one machine add up: each sends the other what it has, the bytes of a ring of two in one
// round instead of two. Above all, a worker that has nothing to add says so in an empty message as soon as it
// knows, and from then on the other does not depend on it: it ends its sums alone, and its numbers leave in
// their own time.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <span>

#include "cluster/exchange/collectives.h"
#include "cluster/exchange/mpi/mpi_calls.h"

namespace paceline {

// Memory that is used again in every step: with fresh pages the exchange cost a slow worker 5.9 ms, not 4.2.
class Buffers {
 public:
  using Buffer = std::unique_ptr<std::byte[]>;
  Buffer take(size_t bytes);
  // bytes: as it was taken.
  void give_back(Buffer buffer, size_t bytes);

 private:
  std::multimap<size_t, Buffer> free_;  // by size, a power of two
};

// The other's numbers on their way here.
struct Swap {
  Buffers::Buffer received;  // none when there is nothing to add them to
  MPI_Request request = MPI_REQUEST_NULL;
};

// Copies of numbers on their way to the other: the originals change when the other's arrive.
class Departures {
 public:
  explicit Departures(Buffers& buffers) : buffers_(buffers) {}
  void send(std::span<const std::byte> bytes, int to);
  // Forgets those that have left, and says whether any has.
  bool advance();
  size_t waiting_bytes() const { return waiting_bytes_; }
  bool empty() const { return copies_.empty(); }
  // Sleeps until all have left.
  void wait();

 private:
  struct Copy {
    Buffers::Buffer bytes;
    size_t size = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  Buffers& buffers_;
  std::list<Copy> copies_;
  size_t waiting_bytes_ = 0;
};

// Both workers launch the same pieces, in the same order.
Swap launch_swap(const Collective& piece, int other, Departures& departures, Buffers& buffers);
// When the request is done; count: of the bytes that came.
void end_swap(const Collective& piece, Swap& swap, int count, Buffers& buffers);

}  // namespace paceline
