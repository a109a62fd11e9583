// The words of a vocabulary that fit into 16 bytes, for one look-up a word.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace paceline {

// A hash table of the words themselves, with at most most_steps places to look at. A word that would lie
// further away is left out: the caller asks elsewhere for what is not found here. Immutable once filled.
class ShortWords {
 public:
  static constexpr size_t max_bytes = 16;
  static constexpr uint32_t none = UINT32_MAX;

  explicit ShortWords(size_t words) : slots_(std::bit_ceil(2 * words + 2) + most_steps) {
    shift_ = 64 - std::countr_zero(slots_.size() - most_steps);
  }

  // word: 1 to 16 bytes without zeros.
  void add(std::string_view word, uint32_t id) {
    char padded[2 * max_bytes] = {};
    std::memcpy(padded, word.data(), word.size());
    const Key key = key_of(padded, word.size());
    for (size_t step = 0, at = place_of(key); step < most_steps; ++step, ++at)
      if (slots_[at].id == none) {
        slots_[at] = {key, id};
        return;
      }
  }

  // Reads 16 bytes, whatever the length, which is 1 to 16.
  uint32_t find(const char* word, size_t length) const {
    const Key key = key_of(word, length);
    const Slot* slot = slots_.data() + place_of(key);
    for (const Slot* const end = slot + most_steps; slot < end; ++slot) {
      if (slot->key.low == key.low && slot->key.high == key.high) return slot->id;
      if (slot->id == none) break;
    }
    return none;
  }

 private:
  static constexpr size_t most_steps = 16;
  struct Key {
    uint64_t low = 0, high = 0;
  };
  struct Slot {
    Key key;
    uint32_t id = none;
  };

  // The word's bytes, and zeros behind them.
  static Key key_of(const char* word, size_t length) {
    static constexpr unsigned char kept[2 * max_bytes] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                          255, 255, 255, 255, 255, 255, 255, 255};
    Key key, mask;
    std::memcpy(&key, word, sizeof key);
    std::memcpy(&mask, kept + max_bytes - length, sizeof mask);
    return {key.low & mask.low, key.high & mask.high};
  }
  size_t place_of(const Key& key) const {
    const uint64_t mixed = key.low ^ std::rotl(key.high * 0x9E3779B97F4A7C15ull, 29);
    return static_cast<size_t>((mixed * 0xD6E8FEB86659FD93ull) >> shift_);
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace paceline
