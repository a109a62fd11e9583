#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/ranged_file.h"

namespace paceline {
namespace {

// The first 32 bits behind the point of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::block(const unsigned char* bytes) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i)
    w[i] = static_cast<uint32_t>(bytes[4 * i]) << 24 | static_cast<uint32_t>(bytes[4 * i + 1]) << 16 |
           static_cast<uint32_t>(bytes[4 * i + 2]) << 8 | bytes[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t near = w[i - 2], far = w[i - 15];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(far, 7) ^ std::rotr(far, 18) ^ (far >> 3)) +
           (std::rotr(near, 17) ^ std::rotr(near, 19) ^ (near >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> change = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += change[i];
}

void Sha256::update(std::string_view bytes) {
  const auto* next = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  while (left > 0) {
    const size_t have = bytes_ % 64, take = std::min(left, 64 - have);
    if (take == 64) {
      block(next);
    } else {
      std::memcpy(waiting_.data() + have, next, take);
      if (have + take == 64) block(waiting_.data());
    }
    bytes_ += take;
    next += take;
    left -= take;
  }
}

std::string Sha256::hex() {
  const uint64_t bits = bytes_ * 8;
  std::string end(1 + (119 - bytes_ % 64) % 64, '\0');  // up to the last 8 bytes of a block
  end[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift);
  update(end);
  std::string digits;
  for (uint32_t word : state_) digits += fmt::format("{:08x}", word);
  return digits;
}

std::string file_sha256(const std::filesystem::path& path) {
  const RangedFile file(path);
  Sha256 sum;
  std::vector<char> buffer(1 << 20);
  for (uint64_t at = 0; at < file.size(); at += buffer.size()) {
    throw_if_interrupted();
    const auto piece = std::span(buffer).first(std::min<uint64_t>(buffer.size(), file.size() - at));
    file.read(at, piece);
    sum.update({piece.data(), piece.size()});
  }
  return sum.hex();
}

}  // namespace paceline
