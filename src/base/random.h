// Counter-based random numbers: the n-th value of a stream is a function of (key, n) alone, so a
// stream can be entered anywhere and gives the same values on any machine and any thread.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "base/hash.h"

namespace paceline {

// Folds the parts that name a stream (seed, step, grain, …) into one key.
constexpr uint64_t stream_key(std::initializer_list<uint64_t> parts) {
  uint64_t key = 0x243F6A8885A308D3ull;
  for (uint64_t part : parts) key = mix64(key + 0x9E3779B97F4A7C15ull + mix64(part + 0x13198A2E03707344ull));
  return key;
}

class RandomStream {
 public:
  explicit constexpr RandomStream(uint64_t key, uint64_t position = 0) : key_(key), position_(position) {}
  constexpr RandomStream(std::initializer_list<uint64_t> parts) : RandomStream(stream_key(parts)) {}

  constexpr uint64_t at(uint64_t n) const { return mix64(key_ + (n + 1) * 0x9E3779B97F4A7C15ull); }
  constexpr uint64_t next() { return at(position_++); }
  // Uniform in [0, bound), bound > 0 (multiply-shift; its bias of bound / 2^64 does not matter here).
  constexpr uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  // Uniform in [0, 1) with 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t key_, position_;
};

// A bijection of [0, size) that looks random, keyed; evaluated at one point in O(1) (a Feistel network
// with cycle walking). It replaces a shuffled list.
class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t key, uint64_t size);
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t key_, size_;
  unsigned half_bits_;
};

}  // namespace paceline
