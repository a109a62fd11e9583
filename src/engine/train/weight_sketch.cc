#include "engine/train/weight_sketch.h"

#include <cmath>

#include "base/random.h"

namespace paceline {
namespace {

constexpr uint64_t signs_of_word = 64;

// Adds values to the sums of a sketch; `number` is that of the first one in the tensor.
class Adder {
 public:
  Adder(TensorSketch& sketch, double& squares)
      : sketch_(sketch), squares_(squares), signs_({hash64(sketch.name)}) {}

  void add(const float* values, uint64_t count, uint64_t number) {
    while (count > 0) {
      const uint64_t from = number % signs_of_word, part = std::min(count, signs_of_word - from);
      add_part(values, part, from, signs_.at(number / signs_of_word));
      values += part, count -= part, number += part;
    }
  }

 private:
  void add_part(const float* values, uint64_t count, uint64_t from, uint64_t signs) {
    for (uint64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(values[i]);
      squares_ += value * value;
      sketch_.sums[(from + i) % sketch_.sums.size()] += (signs >> (from + i) & 1) != 0 ? value : -value;
    }
  }
  TensorSketch& sketch_;
  double& squares_;
  RandomStream signs_;
};

}  // namespace

TensorSketch sketch_of(const TensorView& tensor) {
  TensorSketch sketch;
  sketch.name = tensor.name;
  sketch.values = tensor.rows * tensor.row_floats;
  double squares = 0;
  Adder adder(sketch, squares);
  for (uint64_t row = 0; row < tensor.rows; ++row) {
    const float* values = tensor.values + row * tensor.stride;
    adder.add(values, tensor.row_floats, row * tensor.row_floats);
    sketch.hash =
        hash64({reinterpret_cast<const char*>(values), tensor.row_floats * sizeof(float)}, sketch.hash);
  }
  sketch.norm = std::sqrt(squares);
  return sketch;
}

std::vector<TensorSketch> sketches_of(const std::vector<TensorView>& tensors, Executors& executors) {
  std::vector<TensorSketch> sketches(tensors.size());
  executors.run(tensors.size(), [&](uint64_t i, unsigned) { sketches[i] = sketch_of(tensors[i]); });
  return sketches;
}

}  // namespace paceline
