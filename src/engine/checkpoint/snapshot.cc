#include "engine/checkpoint/snapshot.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/checkpoint/manifest.h"

namespace paceline {
namespace {

uint64_t packed_bytes(const TensorView& tensor) { return tensor.rows * tensor.row_floats * sizeof(float); }

char* append_packed(char* to, const TensorView& tensor) {
  const size_t row_bytes = tensor.row_floats * sizeof(float);
  if (packed_bytes(tensor) == 0) return to;
  if (tensor.stride == tensor.row_floats || tensor.rows == 1) {
    std::memcpy(to, tensor.values, packed_bytes(tensor));
  } else {
    for (uint64_t row = 0; row < tensor.rows; ++row)
      std::memcpy(to + row * row_bytes, tensor.values + row * tensor.stride, row_bytes);
  }
  return to + packed_bytes(tensor);
}

}  // namespace

void Snapshot::copy(uint64_t step, const nlohmann::ordered_json& state,
                    const std::vector<TensorView>& tensors, const std::vector<std::string>& best_for) {
  step_ = step;
  best_for_ = best_for;
  state_ = state.dump(2) + "\n";
  if (state_.size() > max_state_bytes)
    work_error("its state has {} bytes, at most {} can be read again", state_.size(), max_state_bytes);
  const std::string header = safetensors_header(tensors, {});
  const uint64_t length = header.size();
  size_t bytes = sizeof length + header.size();
  for (const auto& tensor : tensors) bytes += packed_bytes(tensor);
  reserve(bytes);
  char* to = image_.get();
  std::memcpy(to, &length, sizeof length);
  to = std::copy(header.begin(), header.end(), to + sizeof length);
  for (const auto& tensor : tensors) to = append_packed(to, tensor);
}

void Snapshot::reserve(size_t bytes) {
  image_bytes_ = 0;
  if (bytes > capacity_) {
    capacity_ = 0;
    image_.reset();  // before the larger one is taken
    image_ = std::make_unique_for_overwrite<char[]>(bytes);
    capacity_ = bytes;
  }
  image_bytes_ = bytes;
}

}  // namespace paceline
