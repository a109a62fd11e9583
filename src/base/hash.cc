#include "base/hash.h"

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"

namespace paceline {

uint64_t hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 hash128(std::string_view bytes, uint64_t seed) {
  XXH128_hash_t h = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {h.low64, h.high64};
}

std::string to_hex(Hash128 hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

std::string file_checksum(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) work_error("{}: cannot be read", path.string());
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1 << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<size_t>(in.gcount()));
  if (in.bad()) work_error("{}: reading failed", path.string());
  XXH128_hash_t h = XXH3_128bits_digest(state.get());
  return "xxh3:" + to_hex({h.low64, h.high64});
}

}  // namespace paceline
