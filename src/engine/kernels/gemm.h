// Products of float32 matrices in which every element is one chain of fused multiply-adds in the order
// of k. So an element's bits depend neither on the shape around it, nor on the blocking, nor on the width
// of the vectors: they are the same on every processor with fused multiply-add.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/kernels/packed_matrix.h"

namespace paceline {

// Rows of a matrix: row i starts at base + rows[i] * stride, or at base + i * stride without a list.
struct ConstRows {
  const float* base;
  size_t stride;
  const uint32_t* rows = nullptr;
  const float* row(size_t i) const { return base + (rows ? rows[i] : i) * stride; }
};
struct MutableRows {
  float* base;
  size_t stride;
  const uint32_t* rows = nullptr;
  float* row(size_t i) const { return base + (rows ? rows[i] : i) * stride; }
};

enum class Start { zero, add, bias };  // what a product starts from: 0, what is there, a row of biases

// out[i] = start + in[i] * matrix, for `rows` rows.
void multiply(size_t rows, const ConstRows& in, const PackedMatrix& matrix, const MutableRows& out,
              Start start, const float* bias = nullptr);

// At most `most`, so that `all` has parts of almost equal size.
inline size_t even_part(size_t all, size_t most) {
  const size_t parts = (all + most - 1) / most;
  return parts == 0 ? 1 : (all + parts - 1) / parts;
}

struct ProductScratch {
  // What a transposed product takes at a time.
  static constexpr size_t most_depth = 256, most_left_columns = 192;
  // The same of one by blocks: rows of a block, and columns that are laid out together.
  static constexpr size_t block_rows = 96, packed_columns = 384;
  static constexpr size_t floats_for_a_row = block_rows + packed_columns;
  AlignedFloats left, right, out;
};
// One right side of a transposed product, and where the result goes.
struct RightSide {
  ConstRows rows;
  size_t columns;
  float* out;
  size_t out_stride;
};
// For each right side: out (left_columns x columns) = start + sum over k of left[k]^T right[k], for `depth`
// rows; start is zero or add. Several at once share the cost of laying out the left side.
void multiply_transposed(size_t depth, const ConstRows& left, size_t left_columns,
                         std::span<const RightSide> rights, ProductScratch& scratch,
                         Start start = Start::zero);

struct MatrixBlock {
  size_t row, rows, column, columns;
  const float* values;
  size_t stride;
  bool last;  // of its matrix
  bool more;  // next comes the same block of another part
};
using TakeBlock = std::function<void(size_t part, const MatrixBlock&)>;
// The products left[k]^T right[k], each over a part of k, [bounds[p], bounds[p + 1]), as blocks that are
// still in the first cache when they are taken: for every block one after another those of all parts.
void multiply_transposed_by_blocks(std::span<const uint32_t> bounds, const ConstRows& left,
                                   size_t left_columns, const ConstRows& right, size_t columns,
                                   ProductScratch& scratch, const TakeBlock& take);

// The instruction set that was chosen ("AVX2"), part of the kernel class.
const char* kernel_target();
// From now on only what every x86-64 processor of the last fifteen years has. To be called before any other
// of these functions.
void use_portable_kernels();
// Without it products round twice, and bits are others than everywhere else.
bool fused_multiply_add(std::string_view target = kernel_target());

}  // namespace paceline
