// A few numbers that stand for the weights in a run's record, so that two runs can be compared by their
// records alone, wherever they ran.
#pragma once
#include <array>

#include "base/executors.h"
#include "engine/model/safetensors.h"

namespace paceline {

// Value i of a tensor is added to, or with an even chance taken from, sum i % 16; signs depend on the
// tensor's name and i alone. So the sketch of a difference is the difference of the sketches, and the sum of
// its squares is, in the mean over signs, the squared distance of the two tensors (relative deviation sqrt(2
// / 16)).
struct TensorSketch {
  std::string name;
  uint64_t values = 0;  // how many
  double norm = 0;      // root of the sum of their squares
  std::array<double, 16> sums = {};
  uint64_t hash = 0;  // of their bytes
};

TensorSketch sketch_of(const TensorView& tensor);
// In the order of the tensors, whichever executor does which.
std::vector<TensorSketch> sketches_of(const std::vector<TensorView>& tensors, Executors& executors);

}  // namespace paceline
