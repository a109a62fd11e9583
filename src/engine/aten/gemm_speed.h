// What the linked LibTorch is, and how fast it multiplies here.
#pragma once
#include <string>

namespace paceline {

std::string libtorch_version();
// The best of several float32 products of 1024 x 1024 matrices, in Gflop/s.
double measure_gemm_gflops(unsigned threads);
// Products of bfloat16 against the same in float32, in the shapes of a model. Only for a process that may die
// of it.
bool bfloat16_is_right();

}  // namespace paceline
