// SHA-256 (FIPS 180-4): how package indexes and model hubs name their files.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

class Sha256 {
 public:
  void update(std::string_view bytes);
  // 64 hex digits. Ends it: no update after this.
  std::string hex();

 private:
  void block(const unsigned char* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> waiting_ = {};
  uint64_t bytes_ = 0;
};

// Throws InputError when it cannot be opened, Interrupted.
std::string file_sha256(const std::filesystem::path& path);

}  // namespace paceline
