// The safetensors format: a JSON header and raw little-endian tensors. Torch-free.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/model/safetensors_header.h"

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

// Reads tensors one by one: F32 as it is, F64, F16 and BF16 as float32. Tensors of other types are listed and
// cannot be read. Everything in the header is checked when the file is opened: sizes, offsets that overlap,
// leave gaps or lie outside, types, shapes, names that occur twice (InputError).
class SafetensorsReader final : public TensorFile {
 public:
  explicit SafetensorsReader(const fs::path& path);
  const fs::path& path() const override { return file_.path(); }
  std::vector<std::string> names() const override;
  const StoredTensor* find(const std::string& name) const override;
  void read_values(const std::string& name, float* into) const override;
  using TensorFile::read;
  // Reads into rows of row_floats values, stride floats apart.
  void read(const std::string& name, const std::vector<uint64_t>& shape, float* into, uint64_t row_floats,
            uint64_t stride) const;

 private:
  RangedFile file_;
  uint64_t data_begin_ = 0;
  std::map<std::string, SafetensorsEntry> entries_;
};

}  // namespace paceline
