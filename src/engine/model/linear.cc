#include "engine/model/linear.h"

#include <cstring>

#include "engine/kernels/gradient_loops.h"

namespace paceline {

Linear add_linear(ParameterStore& store, const std::string& name, uint64_t outputs, uint64_t inputs) {
  const size_t weight = store.add(name + ".weight", {outputs, inputs}, true);
  return {store, weight, store.add(name + ".bias", {outputs}, false)};
}

void Linear::pack() { pack_both((*store_)[weight_].values, outputs(), inputs(), back_, ahead_); }

void Linear::forward(size_t rows, const ConstRows& in, const MutableRows& out) const {
  multiply(rows, in, ahead_, out, Start::bias, (*store_)[bias_].values);
}

void Linear::backward(size_t rows, const ConstRows& d_out, const MutableRows& d_in, Start start) const {
  multiply(rows, d_out, back_, d_in, start);
}

void Linear::gradients(std::span<const uint32_t> bounds, const ConstRows& in, const ConstRows& d_out,
                       ProductScratch& scratch, const PartSink& sink) const {
  multiply_transposed_by_blocks(
      bounds, d_out, outputs(), in, inputs(), scratch,
      [&](size_t grain, const MatrixBlock& block) { sink.block(grain, weight_, block); });
  for (size_t grain = 0; grain + 1 < bounds.size(); ++grain) {
    float* sum = scratch.out.reserve(outputs());
    std::memset(sum, 0, outputs() * sizeof(float));
    for (size_t i = bounds[grain]; i < bounds[grain + 1]; ++i) add_floats(d_out.row(i), outputs(), sum);
    sink.dense(grain, bias_, sum);
  }
}

}  // namespace paceline
