#pragma once
#include <cstring>
#include <string_view>

namespace paceline {

// The first position >= from that holds the byte; bytes.size() when there is none.
inline size_t find_byte(std::string_view bytes, char wanted, size_t from) {
  if (from >= bytes.size()) return bytes.size();
  const void* found = std::memchr(bytes.data() + from, wanted, bytes.size() - from);
  return found == nullptr ? bytes.size()
                          : static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
}

}  // namespace paceline
