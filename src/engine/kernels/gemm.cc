#include "engine/kernels/gemm.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Two vectors of columns by as many rows as the registers hold.
constexpr size_t tile_rows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
size_t PanelColumns() { return 2 * hn::Lanes(D()); }
// What a transposed product takes at a time: so many k, and tiles of the left side.
constexpr size_t depth_block = 192, left_block = 16;
size_t DepthBlock() { return depth_block; }
size_t LeftScratch() { return depth_block * left_block * tile_rows; }

// One tile: `count` rows of the left side, given by pointers and a step in k, by one panel of the right.
template <size_t count>
HWY_ATTR void Tile(const float* const* left, size_t left_step, const float* HWY_RESTRICT panel, size_t depth,
                   float* const* out, const float* bias, Start start) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V low[count], high[count];
  const float* rows[count];
#pragma GCC unroll 16
  for (size_t i = 0; i < count; ++i) {
    rows[i] = left[i];
    const float* from = start == Start::add ? out[i] : bias;
    low[i] = start == Start::zero ? hn::Zero(d) : hn::LoadU(d, from);
    high[i] = start == Start::zero ? hn::Zero(d) : hn::LoadU(d, from + lanes);
  }
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
#pragma GCC unroll 16
  for (size_t i = 0; i < count; ++i) {
    hn::StoreU(low[i], d, out[i]);
    hn::StoreU(high[i], d, out[i] + lanes);
  }
}

// A tile of `count` rows, at most `most`.
template <size_t most>
HWY_ATTR void AnyTile(size_t count, const float* const* left, size_t left_step, const float* panel,
                      size_t depth, float* const* out, const float* bias, Start start) {
  if (count == most)
    Tile<most>(left, left_step, panel, depth, out, bias, start);
  else if constexpr (most > 1)
    AnyTile<most - 1>(count, left, left_step, panel, depth, out, bias, start);
}

// The last panel, of which only some columns exist: by way of a whole one.
HWY_NOINLINE HWY_ATTR void EdgeTile(size_t count, const float* const* left, size_t left_step,
                                    const float* panel, size_t depth, float* const* out, size_t columns,
                                    const float* bias, Start start) {
  HWY_ALIGN float edge[tile_rows][2 * HWY_MAX_BYTES / sizeof(float)];
  float* to[tile_rows] = {};
  for (size_t i = 0; i < count; ++i) {
    to[i] = edge[i];
    const float* from = start == Start::add ? out[i] : bias;
    for (size_t j = 0; j < PanelColumns(); ++j)
      edge[i][j] = start != Start::zero && j < columns ? from[j] : 0.f;
  }
  AnyTile<tile_rows>(count, left, left_step, panel, depth, to, nullptr, Start::add);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < columns; ++j) out[i][j] = edge[i][j];
}

HWY_ATTR void PanelTile(size_t count, const float* const* left, size_t left_step, const float* panel,
                        size_t depth, float* const* out, size_t columns, const float* bias, Start start) {
  if (columns >= PanelColumns())
    AnyTile<tile_rows>(count, left, left_step, panel, depth, out, bias, start);
  else
    EdgeTile(count, left, left_step, panel, depth, out, columns, bias, start);
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
        PanelTile(end - begin, left, 1, panel, depth, to, columns - j, bias ? bias + j : nullptr, start);
      }
    }
  }
}

// Rows [k0, k0 + ks) of the right side, panel by panel.
HWY_ATTR void PackRight(const RightSide& right, size_t k0, size_t ks, float* to) {
  const size_t width = PanelColumns();
  for (size_t j = 0; j < right.columns; j += width)
    for (size_t k = 0; k < ks; ++k, to += width) {
      const float* row = right.rows.row(k0 + k) + j;
      if (j + width <= right.columns)
        std::memcpy(to, row, width * sizeof(float));
      else
        for (size_t c = 0; c < width; ++c) to[c] = j + c < right.columns ? row[c] : 0.f;
    }
}

// Columns [i0, i1) of the same rows of the left side, tile by tile.
HWY_ATTR void PackLeft(const ConstRows& left, size_t k0, size_t ks, size_t i0, size_t i1, float* to) {
  for (size_t k = 0; k < ks; ++k) {
    const float* row = left.row(k0 + k);
    for (size_t i = i0; i < i1; i += tile_rows) {
      const size_t count = std::min(tile_rows, i1 - i);
      float* tile = to + (i - i0) * ks + k * count;
      if (count == tile_rows)
        std::memcpy(tile, row + i, tile_rows * sizeof(float));
      else
        for (size_t c = 0; c < count; ++c) tile[c] = row[i + c];
    }
  }
}

HWY_ATTR void MultiplyTransposed(size_t depth, const ConstRows& left, size_t left_columns,
                                 std::span<const RightSide> rights, float* left_scratch, float* right_scratch,
                                 Start start) {
  const size_t width = PanelColumns();
  for (size_t k0 = 0; k0 < depth; k0 += depth_block) {
    const size_t ks = std::min(depth_block, depth - k0);
    float* packed = right_scratch;
    for (const RightSide& right : rights) {
      PackRight(right, k0, ks, packed);
      packed += (right.columns + width - 1) / width * width * ks;
    }
    for (size_t i0 = 0; i0 < left_columns; i0 += left_block * tile_rows) {
      const size_t i1 = std::min(left_columns, i0 + left_block * tile_rows);
      PackLeft(left, k0, ks, i0, i1, left_scratch);
      const float* panel = right_scratch;
      for (const RightSide& right : rights)
        for (size_t j = 0; j < right.columns; j += width, panel += width * ks)
          for (size_t i = i0; i < i1; i += tile_rows) {
            const size_t count = std::min(tile_rows, i1 - i);
            const float* from[tile_rows] = {};
            float* to[tile_rows] = {};
            for (size_t c = 0; c < count; ++c) {
              from[c] = left_scratch + (i - i0) * ks + c;
              to[c] = right.out + (i + c) * right.out_stride + j;
            }
            PanelTile(count, from, count, panel, ks, to, right.columns - j, nullptr,
                      k0 == 0 ? start : Start::add);
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
HWY_EXPORT(DepthBlock);
HWY_EXPORT(LeftScratch);
HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplyTransposed);
HWY_EXPORT(TargetName);

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
    // Large pages spare look-ups of addresses; where there are none, nothing changes.
    constexpr size_t page = size_t{2} << 20;
    const size_t bytes = wanted * sizeof(float);
    const bool large = bytes >= 2 * page;
    values_.reset(static_cast<float*>(
        std::aligned_alloc(large ? page : 64, large ? (bytes + page - 1) / page * page : bytes)));
    if (!values_) throw std::bad_alloc();
    if (large) madvise(values_.get(), bytes, MADV_HUGEPAGE);
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
  for (size_t j = 0; j < columns; j += width) {
    const size_t count = std::min(width, columns - j);
    for (size_t k = 0; k < depth; ++k, to += width) {
      std::memcpy(to, matrix + k * stride + j, count * sizeof(float));
      std::fill(to + count, to + width, 0.f);
    }
  }
}

// A few k at a time: then the rows that are read stay in the first cache, and what is written is contiguous.
void PackedMatrix::pack_transposed(const float* matrix, size_t depth, size_t columns, size_t stride) {
  constexpr size_t block = 16;
  float* to = resize(depth, columns);
  const size_t width = panel_columns();
  for (size_t j = 0; j < columns; j += width, to += depth * width) {
    const size_t count = std::min(width, columns - j);
    const float* rows = matrix + j * stride;
    for (size_t first = 0; first < depth; first += block)
      for (size_t k = first; k < std::min(depth, first + block); ++k) {
        float* out = to + k * width;
        for (size_t c = 0; c < count; ++c) out[c] = rows[c * stride + k];
        std::fill(out + count, out + width, 0.f);
      }
  }
}

void multiply(size_t rows, const ConstRows& in, const PackedMatrix& matrix, const MutableRows& out,
              Start start, const float* bias) {
  HWY_DYNAMIC_DISPATCH(Multiply)
  (rows, in, matrix.data(), matrix.depth(), matrix.columns(), out, start, bias);
}

void multiply_transposed(size_t depth, const ConstRows& left, size_t left_columns,
                         std::span<const RightSide> rights, ProductScratch& scratch, Start start) {
  size_t columns = 0;
  for (const RightSide& right : rights) {
    columns += whole_panels(right.columns);
    for (size_t i = 0; i < left_columns && depth == 0 && start == Start::zero; ++i)
      std::memset(right.out + i * right.out_stride, 0, right.columns * sizeof(float));
  }
  float* left_scratch = scratch.left.reserve(HWY_DYNAMIC_DISPATCH(LeftScratch)());
  float* right_scratch = scratch.right.reserve(HWY_DYNAMIC_DISPATCH(DepthBlock)() * columns);
  HWY_DYNAMIC_DISPATCH(MultiplyTransposed)
  (depth, left, left_columns, rights, left_scratch, right_scratch, start);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

void use_portable_kernels() {
#if HWY_ARCH_X86
  hwy::DisableTargets(HWY_SSE4 - 1);  // all newer ones
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

bool fused_multiply_add(std::string_view target) {
  return target.starts_with("AVX") || target.starts_with("NEON") || target.starts_with("SVE");
}

}  // namespace paceline
#endif  // HWY_ONCE
