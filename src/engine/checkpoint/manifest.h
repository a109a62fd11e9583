// manifest.json: what makes a checkpoint complete, and the files it vouches for.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace paceline {

inline constexpr const char* manifest_file = "manifest.json";
inline constexpr const char* state_file = "state.json";
inline constexpr const char* tensors_file = "state.safetensors";
inline constexpr uint64_t max_manifest_bytes = 1 << 20;
inline constexpr uint64_t max_state_bytes = 64 << 20;

// Thrown instead of a plain InputError, since an older checkpoint must not silently take its place.
class NewerVersion : public InputError {
 public:
  using InputError::InputError;
};

struct Manifest {
  struct File {
    std::string name;
    uint64_t size = 0;
    std::string checksum;
  };
  uint64_t step = 0;
  std::vector<std::string> best_for;
  std::vector<File> files;
};

Manifest::File describe_file(std::string name, std::string_view bytes);
std::string manifest_text(const Manifest& manifest);
// The fields as JSON text whose last line is the checksum of all bytes before it.
std::string sealed(const nlohmann::ordered_json& fields);

// Reads and checks the manifest, but none of the files it names. Throws InputError, NewerVersion.
Manifest read_manifest(const fs::path& checkpoint);
// Compares size and checksum. Throws InputError.
void verify_file(const fs::path& checkpoint, const Manifest::File& file);

}  // namespace paceline
