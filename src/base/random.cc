#include "base/random.h"

#include <bit>

#include "base/error.h"

namespace paceline {

KeyedPermutation::KeyedPermutation(uint64_t key, uint64_t size) : key_(key), size_(size) {
  PACELINE_ASSERT(size > 0 && size < (uint64_t{1} << 62));
  unsigned bits = static_cast<unsigned>(std::bit_width(size - 1));
  half_bits_ = bits < 2 ? 1 : (bits + 1) / 2;
}

uint64_t KeyedPermutation::operator()(uint64_t index) const {
  PACELINE_ASSERT(index < size_);
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t x = index;
  do {  // the network permutes a power of four of at most 4 * size_ values: walk until inside
    uint64_t left = x >> half_bits_, right = x & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      uint64_t next = left ^ (mix64(key_ + mix64(right + (round << 56))) & mask);
      left = right;
      right = next;
    }
    x = (left << half_bits_) | right;
  } while (x >= size_);
  return x;
}

}  // namespace paceline
