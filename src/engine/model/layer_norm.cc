#include "engine/model/layer_norm.h"

#include <cstring>

namespace paceline {

Norm add_norm(ParameterStore& store, const std::string& name, uint64_t width) {
  const size_t weight = store.add(name + ".weight", {width}, false);
  return {weight, store.add(name + ".bias", {width}, false)};
}

void RowDropout::apply(size_t rows, size_t width, const float* values, float* to) const {
  if (active())
    for (size_t i = 0; i < rows; ++i) apply_to_row(i, width, values + i * width, to + i * width);
  else if (values != to)
    std::memcpy(to, values, rows * width * sizeof(float));
}

void drop_add_norm(const ParameterStore& store, const Norm& norm, float epsilon, size_t rows, size_t width,
                   const RowDropout& dropout, float* dense, const ConstRows& residual, NormCache& cache,
                   float* out) {
  float* normalized = cache.normalized.reserve(rows * width);
  cache.scales.resize(rows);
  const NormWeights weights = {store[norm.weight].values, store[norm.bias].values, epsilon};
  for (size_t i = 0; i < rows; ++i) {
    float* row = dense + i * width;
    if (dropout.active()) dropout.apply_to_row(i, width, row, row);
    cache.scales[i] = norm_forward(weights, width, row, residual.base ? residual.row(i) : nullptr,
                                   normalized + i * width, out + i * width);
  }
}

void norm_backward_rows(const ParameterStore& store, const Norm& norm, std::span<const uint32_t> bounds,
                        size_t width, const NormCache& cache, float* d_out, const PartSink& sink) {
  std::vector<float> gradients(2 * width);
  for (size_t grain = 0; grain + 1 < bounds.size(); ++grain) {
    std::fill(gradients.begin(), gradients.end(), 0.f);
    for (size_t i = bounds[grain]; i < bounds[grain + 1]; ++i)
      norm_backward(store[norm.weight].values, width, cache.normalized.data() + i * width, cache.scales[i],
                    d_out + i * width, d_out + i * width, gradients.data(), gradients.data() + width);
    sink.dense(grain, norm.weight, gradients.data());
    sink.dense(grain, norm.bias, gradients.data() + width);
  }
}

}  // namespace paceline
