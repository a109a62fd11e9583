// Hashes that name and order data. XXH3 is stable across versions and machines.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

struct Hash128 {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Hash128&) const = default;
};

uint64_t hash64(std::string_view bytes, uint64_t seed = 0);
Hash128 hash128(std::string_view bytes, uint64_t seed = 0);

// A strong mix of a 64-bit word (the finalizer of SplitMix64): a bijection without fixed structure.
constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// "xxh3:" and 32 hex digits over a file's bytes.
std::string file_checksum(const std::filesystem::path& path);
std::string to_hex(Hash128 hash);

}  // namespace paceline
