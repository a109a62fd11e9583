// Numbers and texts as bytes of fixed size, little-endian.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

template <typename Number>
constexpr Number little_endian(Number value) {
  return std::endian::native == std::endian::big
             ? (sizeof value == 8 ? static_cast<Number>(__builtin_bswap64(value))
                                  : static_cast<Number>(__builtin_bswap32(static_cast<uint32_t>(value))))
             : value;
}

class WireWriter {
 public:
  void put(uint32_t value) { put_bytes(little_endian(value)); }
  void put(uint64_t value) { put_bytes(little_endian(value)); }
  void put(double value) { put(std::bit_cast<uint64_t>(value)); }
  // A length and a field of fixed size.
  void put(std::string_view text, size_t room) {
    size_t size = std::min(text.size(), room);
    while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    put(static_cast<uint32_t>(size));
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), begin, begin + size);
    bytes.resize(bytes.size() + room - size);
  }
  std::vector<std::byte> bytes;

 private:
  template <typename Number>
  void put_bytes(Number value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  }
};

// Past the end, or where a length is too large, it gives zeros and is not good any more.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint32_t u32() { return little_endian(take<uint32_t>()); }
  uint64_t u64() { return little_endian(take<uint64_t>()); }
  double f64() { return std::bit_cast<double>(u64()); }
  std::string text(size_t room) {
    const size_t size = u32();
    if (size > room || bytes_.size() < room) {
      good_ = false;
      return {};
    }
    std::string result(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(room);
    return result;
  }
  bool is_done() const { return good_ && bytes_.empty(); }

 private:
  template <typename Number>
  Number take() {
    Number value = 0;
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

}  // namespace paceline
