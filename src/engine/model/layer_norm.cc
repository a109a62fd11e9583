#include "engine/model/layer_norm.h"

#include <cstring>

namespace paceline {

Norm add_norm(ParameterStore& store, const std::string& name, uint64_t width) {
  const size_t weight = store.add(name + ".weight", {width}, false);
  return {weight, store.add(name + ".bias", {width}, false)};
}

void drop(const Dropout& dropout, size_t count, const float* values, float* to) {
  if (dropout.active())
    dropout.apply(0, values, count, to);
  else if (values != to)
    std::memcpy(to, values, count * sizeof(float));
}

void drop_add_norm(const ParameterStore& store, const Norm& norm, float epsilon, size_t rows, size_t width,
                   const Dropout& dropout, float* dense, const float* residual, NormCache& cache,
                   float* out) {
  float* normalized = cache.normalized.reserve(rows * width);
  cache.scales.resize(rows);
  const NormWeights weights = {store[norm.weight].values, store[norm.bias].values, epsilon};
  for (size_t i = 0; i < rows; ++i) {
    float* row = dense + i * width;
    if (dropout.active()) dropout.apply(i * width, row, width, row);
    cache.scales[i] = norm_forward(weights, width, row, residual ? residual + i * width : nullptr,
                                   normalized + i * width, out + i * width);
  }
}

void norm_backward_rows(const ParameterStore& store, const Norm& norm, size_t rows, size_t width,
                        const NormCache& cache, float* d_out, const GrainSink& sink) {
  std::vector<float> gradients(2 * width, 0.f);
  for (size_t i = 0; i < rows; ++i)
    norm_backward(store[norm.weight].values, width, cache.normalized.data() + i * width, cache.scales[i],
                  d_out + i * width, d_out + i * width, gradients.data(), gradients.data() + width);
  sink.dense(norm.weight, gradients.data());
  sink.dense(norm.bias, gradients.data() + width);
}

}  // namespace paceline
