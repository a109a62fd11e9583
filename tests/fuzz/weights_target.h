// What the fuzz targets of the readers of weights do with arbitrary bytes. The tests run the same over the
// kept corpus.
#pragma once
#include <fstream>
#include <string_view>

#include "../engine/torch_builder.h"
#include "base/error.h"
#include "engine/model/safetensors.h"
#include "engine/model/torch_file.h"

namespace paceline {

// Every tensor that the file lists can be read, in the shape it says, or is refused for its type.
inline void check_tensors(const TensorFile& file) {
  for (const std::string& name : file.names()) {
    const StoredTensor* tensor = file.find(name);
    PACELINE_ASSERT(file.has(name) && tensor != nullptr && tensor->type != nullptr);
    uint64_t elements = 0;
    PACELINE_ASSERT(count_elements(file.shape(name), elements) && elements == tensor->elements);
    // A view may repeat its storage without end; the caller's shape decides whether there is memory for it.
    if (elements > 1 << 16) continue;
    std::vector<float> values(elements);
    try {
      file.read(name, tensor->shape, values.data());
      PACELINE_ASSERT(tensor->type->to_floats != nullptr);
    } catch (const InputError&) {
      PACELINE_ASSERT(tensor->type->to_floats == nullptr);
    }
  }
}

template <typename File>
void check_weights(std::string_view bytes, const fs::path& folder) {
  const fs::path path = folder / "weights";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    check_tensors(File(path));
  } catch (const InputError& error) {
    PACELINE_ASSERT(std::string_view(error.what()).size() < 2000);
  }
}

inline void check_safetensors(std::string_view bytes, const fs::path& folder) {
  check_weights<SafetensorsReader>(bytes, folder);
}

// A whole archive if it begins like one; otherwise the pickle of one.
inline void check_torch_file(std::string_view bytes, const fs::path& folder) {
  if (bytes.starts_with("PK"))
    check_weights<TorchFile>(bytes, folder);
  else
    check_weights<TorchFile>(torch_archive(std::string(bytes)).finish(), folder);
}

}  // namespace paceline
