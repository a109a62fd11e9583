#include "engine/kernels/gemm.h"

#include <cstdlib>
#include <cstring>
#include <new>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "engine/kernels/targets.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Two vectors of columns by as many rows as the registers hold.
constexpr size_t tile_rows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
size_t PanelColumns() { return 2 * hn::Lanes(D()); }
size_t TileRows() { return tile_rows; }

// One tile: `count` rows of the left side, given by pointers and a step in k, by one panel of the right.
template <size_t count>
HWY_ATTR void Tile(const float* const* left, size_t left_step, const float* HWY_RESTRICT panel, size_t depth,
                   float* const* out, size_t columns, const float* bias, Start start) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V low[count], high[count];
  HWY_ALIGN float edge[count][2 * HWY_MAX_BYTES / sizeof(float)];
  const bool whole = columns == 2 * lanes;
  if (start == Start::add) {
    for (size_t i = 0; i < count; ++i) {
      const float* from = out[i];
      if (!whole) {
        for (size_t j = 0; j < columns; ++j) edge[i][j] = out[i][j];
        for (size_t j = columns; j < 2 * lanes; ++j) edge[i][j] = 0;
        from = edge[i];
      }
      low[i] = hn::LoadU(d, from);
      high[i] = hn::LoadU(d, from + lanes);
    }
  } else if (start == Start::bias) {
    const float* from = bias;
    if (!whole) {
      for (size_t j = 0; j < 2 * lanes; ++j) edge[0][j] = j < columns ? bias[j] : 0;
      from = edge[0];
    }
    for (size_t i = 0; i < count; ++i) {
      low[i] = hn::LoadU(d, from);
      high[i] = hn::LoadU(d, from + lanes);
    }
  } else {
    for (size_t i = 0; i < count; ++i) low[i] = high[i] = hn::Zero(d);
  }
  const float* rows[count];
  for (size_t i = 0; i < count; ++i) rows[i] = left[i];
  for (size_t k = 0; k < depth; ++k) {
    const V b0 = hn::Load(d, panel), b1 = hn::Load(d, panel + lanes);
    panel += 2 * lanes;
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) {
      const V a = hn::Set(d, rows[i][k * left_step]);
      low[i] = hn::MulAdd(a, b0, low[i]);
      high[i] = hn::MulAdd(a, b1, high[i]);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (whole) {
      hn::StoreU(low[i], d, out[i]);
      hn::StoreU(high[i], d, out[i] + lanes);
    } else {
      hn::StoreU(low[i], d, edge[i]);
      hn::StoreU(high[i], d, edge[i] + lanes);
      for (size_t j = 0; j < columns; ++j) out[i][j] = edge[i][j];
    }
  }
}

// A tile of `count` rows, at most `most`.
template <size_t most>
HWY_ATTR void AnyTile(size_t count, const float* const* left, size_t left_step, const float* panel,
                      size_t depth, float* const* out, size_t columns, const float* bias, Start start) {
  if (count == most)
    Tile<most>(left, left_step, panel, depth, out, columns, bias, start);
  else if constexpr (most > 1)
    AnyTile<most - 1>(count, left, left_step, panel, depth, out, columns, bias, start);
}

// Rows in blocks that stay in the second cache; within a block all panels, each from the first cache.
HWY_ATTR void Multiply(size_t rows, const ConstRows& in, const float* packed, size_t depth, size_t columns,
                       const MutableRows& out, Start start, const float* bias) {
  const size_t width = PanelColumns();
  const size_t block = std::max<size_t>(tile_rows, (size_t{48} << 10) / std::max<size_t>(1, depth));
  for (size_t first = 0; first < rows; first += block) {
    const size_t count = std::min(block, rows - first), tiles = (count + tile_rows - 1) / tile_rows;
    for (size_t j = 0; j < columns; j += width) {
      const float* panel = packed + j * depth;
      for (size_t t = 0; t < tiles; ++t) {  // tiles of almost equal height
        const size_t begin = first + count * t / tiles, end = first + count * (t + 1) / tiles;
        const float* left[tile_rows];
        float* to[tile_rows];
        for (size_t i = begin; i < end; ++i) {
          left[i - begin] = in.row(i);
          to[i - begin] = out.row(i) + j;
        }
        AnyTile<tile_rows>(end - begin, left, 1, panel, depth, to, std::min(width, columns - j),
                           bias ? bias + j : nullptr, start);
      }
    }
  }
}

constexpr size_t depth_block = 256, left_block = 16;  // k at a time; tiles of the left side at a time

HWY_ATTR void MultiplyTransposed(size_t depth, const ConstRows& left, size_t left_columns,
                                 const ConstRows& right, size_t right_columns, float* out, size_t out_stride,
                                 float* left_scratch, float* right_scratch) {
  const size_t width = PanelColumns();
  for (size_t k0 = 0; k0 < depth; k0 += depth_block) {
    const size_t ks = std::min(depth_block, depth - k0);
    for (size_t j = 0; j < right_columns; j += width) {
      const size_t columns = std::min(width, right_columns - j);
      float* panel = right_scratch + j * ks;
      for (size_t k = 0; k < ks; ++k, panel += width) {
        const float* row = right.row(k0 + k) + j;
        for (size_t c = 0; c < columns; ++c) panel[c] = row[c];
        for (size_t c = columns; c < width; ++c) panel[c] = 0;
      }
    }
    for (size_t i0 = 0; i0 < left_columns; i0 += left_block * tile_rows) {
      const size_t i1 = std::min(left_columns, i0 + left_block * tile_rows);
      for (size_t k = 0; k < ks; ++k) {
        const float* row = left.row(k0 + k);
        for (size_t i = i0; i < i1; i += tile_rows) {
          const size_t count = std::min(tile_rows, i1 - i);
          float* to = left_scratch + (i - i0) * ks + k * count;
          for (size_t c = 0; c < count; ++c) to[c] = row[i + c];
        }
      }
      for (size_t j = 0; j < right_columns; j += width)
        for (size_t i = i0; i < i1; i += tile_rows) {
          const size_t count = std::min(tile_rows, i1 - i);
          const float* from[tile_rows];
          float* to[tile_rows];
          for (size_t c = 0; c < count; ++c) {
            from[c] = left_scratch + (i - i0) * ks + c;
            to[c] = out + (i + c) * out_stride + j;
          }
          AnyTile<tile_rows>(count, from, count, right_scratch + j * ks, ks, to,
                             std::min(width, right_columns - j), nullptr, k0 == 0 ? Start::zero : Start::add);
        }
    }
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(PanelColumns);
HWY_EXPORT(TileRows);
HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplyTransposed);
HWY_EXPORT(TargetName);

constexpr size_t depth_block = 256, left_block = 16;

size_t panel_columns() {
  static const size_t columns = HWY_DYNAMIC_DISPATCH(PanelColumns)();
  return columns;
}

size_t whole_panels(size_t columns) {
  return (columns + panel_columns() - 1) / panel_columns() * panel_columns();
}

}  // namespace

void AlignedFloats::Free::operator()(void* memory) const { std::free(memory); }

float* AlignedFloats::reserve(size_t count) {
  if (count > capacity_) {
    const size_t wanted = (std::max(count, capacity_ + capacity_ / 4) + 15) / 16 * 16;
    values_.reset();
    capacity_ = 0;
    values_.reset(static_cast<float*>(std::aligned_alloc(64, wanted * sizeof(float))));
    if (!values_) throw std::bad_alloc();
    capacity_ = wanted;
  }
  return values_.get();
}

float* PackedMatrix::resize(size_t depth, size_t columns) {
  depth_ = depth;
  columns_ = columns;
  return values_.reserve(depth * whole_panels(columns));
}

void PackedMatrix::pack(const float* matrix, size_t depth, size_t columns, size_t stride) {
  float* to = resize(depth, columns);
  const size_t width = panel_columns();
  for (size_t j = 0; j < columns; j += width)
    for (size_t k = 0; k < depth; ++k)
      for (size_t c = j; c < j + width; ++c) *to++ = c < columns ? matrix[k * stride + c] : 0.f;
}

void PackedMatrix::pack_transposed(const float* matrix, size_t depth, size_t columns, size_t stride) {
  float* to = resize(depth, columns);
  const size_t width = panel_columns();
  for (size_t j = 0; j < columns; j += width, to += depth * width)
    for (size_t c = 0; c < width; ++c)
      for (size_t k = 0; k < depth; ++k)
        to[k * width + c] = j + c < columns ? matrix[(j + c) * stride + k] : 0.f;
}

void multiply(size_t rows, const ConstRows& in, const PackedMatrix& matrix, const MutableRows& out,
              Start start, const float* bias) {
  HWY_DYNAMIC_DISPATCH(Multiply)
  (rows, in, matrix.data(), matrix.depth(), matrix.columns(), out, start, bias);
}

void multiply_transposed(size_t depth, const ConstRows& left, size_t left_columns, const ConstRows& right,
                         size_t right_columns, float* out, size_t out_stride, ProductScratch& scratch) {
  if (depth == 0) {
    for (size_t i = 0; i < left_columns; ++i)
      std::memset(out + i * out_stride, 0, right_columns * sizeof(float));
    return;
  }
  float* left_scratch = scratch.left.reserve(depth_block * left_block * HWY_DYNAMIC_DISPATCH(TileRows)());
  float* right_scratch = scratch.right.reserve(depth_block * whole_panels(right_columns));
  HWY_DYNAMIC_DISPATCH(MultiplyTransposed)
  (depth, left, left_columns, right, right_columns, out, out_stride, left_scratch, right_scratch);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace paceline
#endif  // HWY_ONCE
