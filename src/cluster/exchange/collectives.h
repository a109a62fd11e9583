// What the communication thread needs of a library of collective operations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paceline {

struct Place {
  unsigned rank = 0, size = 1;
  unsigned local_rank = 0, local_size = 1;  // among the workers on the same machine
};

// Sums are of int32, maxima of uint32; a barrier has no bytes.
enum class CollectiveKind { sum, max, broadcast, barrier };

struct Collective {
  uint64_t number = 0;
  CollectiveKind kind = CollectiveKind::barrier;
  std::span<std::byte> bytes;
};

// Made by anyone, then called by one thread alone. None of these sleeps, but for open() and close().
class Collectives {
 public:
  virtual ~Collectives() = default;
  // Returns when every worker has come here.
  virtual Place open() = 0;
  // Every worker starts the same ones in the same order.
  virtual void start(const Collective& collective) = 0;
  // Moves on what was started, appends the numbers of those that have ended, and says whether anything has,
  // even a part of one.
  virtual bool advance(std::vector<uint64_t>& ended) = 0;
  // What has ended here may still be on its way to others, who need advance() for it.
  virtual bool is_sending() const { return false; }
  // After a barrier that has ended.
  virtual void close() = 0;
};

}  // namespace paceline
