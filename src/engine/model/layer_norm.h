// Layer norms over the rows of a matrix, with the dropout and the residual that come before them.
#pragma once
#include "engine/kernels/gemm.h"
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

// Where a row stands: in which of the grains that are computed together, and its number there.
struct RowPlace {
  uint32_t grain, number;
};

// Dropout of rows. Elements are numbered within a grain, so that a row is dropped in the same way whichever
// others are there.
struct RowDropout {
  std::span<const Dropout> of_grains = {};  // empty: none
  std::span<const RowPlace> places = {};
  bool active() const { return !of_grains.empty() && of_grains[0].active(); }
  // to = values after dropout; to may be values.
  void apply(size_t rows, size_t width, const float* values, float* to) const;
  void apply_to_row(size_t i, size_t width, const float* values, float* to) const {
    of_grains[places[i].grain].apply(uint64_t{places[i].number} * width, values, width, to);
  }
};

// out = norm(dropout(dense) + residual), row by row; dense is overwritten. residual: base nullptr for none.
void drop_add_norm(const ParameterStore& store, const Norm& norm, float epsilon, size_t rows, size_t width,
                   const RowDropout& dropout, float* dense, const ConstRows& residual, NormCache& cache,
                   float* out);
// d_out becomes the gradient of the sum before the norm; the norm's own gradients go to the sink, those of
// the rows [bounds[g], bounds[g + 1]) as grain g.
void norm_backward_rows(const ParameterStore& store, const Norm& norm, std::span<const uint32_t> bounds,
                        size_t width, const NormCache& cache, float* d_out, const PartSink& sink);

}  // namespace paceline
