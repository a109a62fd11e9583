// What a Transformer does to the rows of a matrix between its products: layer norm, GELU, softmax; forward
// and backward. Bits depend on the row alone.
#pragma once
#include <cstddef>

namespace paceline {

// x = input + residual (nullptr: none); normalized = (x - mean) / deviation; out = normalized * weight +
// bias.
struct NormWeights {
  const float *weight, *bias;
  float epsilon;
};
// Returns 1 / deviation. normalized and out may not be input or residual.
float norm_forward(const NormWeights& weights, size_t width, const float* input, const float* residual,
                   float* normalized, float* out);
// d_input = gradient of x; adds to d_weight and d_bias. d_out may be d_input.
void norm_backward(const float* weight, size_t width, const float* normalized, float scale,
                   const float* d_out, float* d_input, float* d_weight, float* d_bias);

enum class Activation { gelu, gelu_tanh, relu };
void activation_forward(Activation kind, size_t count, const float* input, float* out);
// d_input = d_out * derivative at input. d_out may be d_input.
void activation_backward(Activation kind, size_t count, const float* input, const float* d_out,
                         float* d_input);

void tanh_forward(size_t count, const float* input, float* out);
// d_input = d_out * (1 - out^2)
void tanh_backward(size_t count, const float* out, const float* d_out, float* d_input);

// out = softmax(input * scale). out may be input.
void softmax_forward(float scale, size_t count, const float* input, float* out);
// d_input = scale * p * (d_out - sum of d_out * p). d_out may be d_input.
void softmax_backward(float scale, size_t count, const float* probabilities, const float* d_out,
                      float* d_input);

}  // namespace paceline
