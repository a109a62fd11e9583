#include "engine/model/linear.h"

#include <cstring>

#include "engine/kernels/gradient_loops.h"

namespace paceline {

Linear add_linear(ParameterStore& store, const std::string& name, uint64_t outputs, uint64_t inputs) {
  const size_t weight = store.add(name + ".weight", {outputs, inputs}, true);
  return {store, weight, store.add(name + ".bias", {outputs}, false)};
}

void Linear::pack() {
  const float* values = (*store_)[weight_].values;
  ahead_.pack_transposed(values, inputs(), outputs(), inputs());
  back_.pack(values, outputs(), inputs(), inputs());
}

void Linear::forward(size_t rows, const ConstRows& in, const MutableRows& out) const {
  multiply(rows, in, ahead_, out, Start::bias, (*store_)[bias_].values);
}

void Linear::backward(size_t rows, const ConstRows& d_out, const MutableRows& d_in, Start start) const {
  multiply(rows, d_out, back_, d_in, start);
}

void Linear::gradients(size_t rows, const ConstRows& in, const ConstRows& d_out, float* d_weight,
                       float* d_bias, ProductScratch& scratch) const {
  const RightSide right = {in, inputs(), d_weight, inputs()};
  multiply_transposed(rows, d_out, outputs(), {&right, 1}, scratch);
  sum_rows(rows, d_out, outputs(), d_bias);
}

void sum_rows(size_t rows, const ConstRows& values, size_t width, float* out) {
  std::memset(out, 0, width * sizeof(float));
  for (size_t i = 0; i < rows; ++i) add_floats(values.row(i), width, out);
}

}  // namespace paceline
