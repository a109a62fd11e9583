// A checkpoint in memory: the bytes of its files, copied while training stands still.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/safetensors.h"

namespace paceline {

// Memory is kept from one copy to the next.
class Snapshot {
 public:
  void copy(uint64_t step, const nlohmann::ordered_json& state, const std::vector<TensorView>& tensors,
            const std::vector<std::string>& best_for);
  uint64_t step() const { return step_; }
  std::string_view state() const { return state_; }
  // state.safetensors as it will be on disk.
  std::string_view tensors() const { return {image_.get(), image_bytes_}; }
  const std::vector<std::string>& best_for() const { return best_for_; }

 private:
  void reserve(size_t bytes);
  uint64_t step_ = 0;
  std::string state_;
  std::vector<std::string> best_for_;
  std::unique_ptr<char[]> image_;
  size_t image_bytes_ = 0, capacity_ = 0;
};

}  // namespace paceline
