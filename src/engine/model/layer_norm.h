// Layer norms over the rows of a matrix, with the dropout and the residual that come before them.
#pragma once
#include "engine/kernels/transformer_rows.h"
#include "engine/model/dropout.h"
#include "engine/model/parameter_store.h"

namespace paceline {

// Numbers of the parameters.
struct Norm {
  size_t weight = 0, bias = 0;
};
Norm add_norm(ParameterStore& store, const std::string& name, uint64_t width);

// What forward leaves for backward.
struct NormCache {
  AlignedFloats normalized;
  std::vector<float> scales;
};

// out = norm(dropout(dense) + residual), row by row; dense is overwritten. residual: nullptr for none.
void drop_add_norm(const ParameterStore& store, const Norm& norm, float epsilon, size_t rows, size_t width,
                   const Dropout& dropout, float* dense, const float* residual, NormCache& cache, float* out);
// d_out becomes the gradient of the sum before the norm; the norm's own gradients go to the sink.
void norm_backward_rows(const ParameterStore& store, const Norm& norm, size_t rows, size_t width,
                        const NormCache& cache, float* d_out, const GrainSink& sink);
// to = values after dropout; the first is element 0. to may be values.
void drop(const Dropout& dropout, size_t count, const float* values, float* to);

}  // namespace paceline
