#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paceline {

// The first position >= from that holds the byte; bytes.size() when there is none. Eight bytes are
// looked at before memchr is called, since fields are often shorter than that call.
inline size_t find_byte(std::string_view bytes, char wanted, size_t from) {
  if (from >= bytes.size()) return bytes.size();
  const char* const begin = bytes.data() + from;
  if (std::endian::native == std::endian::little && bytes.size() - from >= 8) {
    constexpr uint64_t ones = 0x0101010101010101ull;
    uint64_t word;
    std::memcpy(&word, begin, sizeof word);
    word ^= ones * static_cast<unsigned char>(wanted);
    const uint64_t found = (word - ones) & ~word & (ones << 7);  // the lowest set bit is exact
    if (found != 0) return from + static_cast<size_t>(std::countr_zero(found)) / 8;
  }
  const void* found = std::memchr(begin, wanted, bytes.size() - from);
  if (found == nullptr) return bytes.size();
  return static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
}

}  // namespace paceline
