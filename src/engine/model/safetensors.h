// The safetensors format: a JSON header and raw little-endian tensors. Torch-free.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"

namespace paceline {

struct TensorView {
  std::string name;
  std::vector<uint64_t> shape;
  // Rows of `row_floats` values each, `stride` floats apart; packed when written.
  const float* values = nullptr;
  uint64_t rows = 0, row_floats = 0, stride = 0;
};

// The JSON header of a file with these tensors one after another.
std::string safetensors_header(const std::vector<TensorView>& tensors,
                               const std::map<std::string, std::string>& metadata);

// Written whole or not at all.
void write_safetensors(const fs::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata);

// Reads tensors of float32 one by one. Everything in the header is checked when the file is opened:
// sizes, offsets that overlap, leave gaps or lie outside, types, shapes (InputError).
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const fs::path& path);
  // Reads into rows of row_floats values, stride floats apart. Throws InputError when the tensor is
  // missing or has another shape (both are named).
  void read(const std::string& name, const std::vector<uint64_t>& shape, float* into, uint64_t row_floats,
            uint64_t stride) const;

 private:
  struct Entry {
    std::vector<uint64_t> shape;
    uint64_t begin = 0, end = 0;
  };
  fs::path path_;
  uint64_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace paceline
