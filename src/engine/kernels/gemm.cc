#include "engine/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#ifndef PACELINE_GEMM_BLOCK
#define PACELINE_GEMM_BLOCK
namespace paceline {
// What a product takes of its left side at a time.
struct LeftBlock {
  size_t rows, depth;
  LeftBlock(size_t all_rows, size_t all_depth) : rows(0), depth(even_part(all_depth, 384)) {
    rows = even_part(all_rows, std::max<size_t>(16, (size_t{96} << 10) / depth));
  }
  size_t stride() const { return depth + 16; }
};
}  // namespace paceline
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/kernels/panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Two vectors of columns by as many rows as the registers hold.
constexpr size_t tile_rows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

// What is needed next, to be fetched into the second cache: so many bytes for every step of k.
struct Ahead {
  const char* from = nullptr;
  size_t step = 0;
};

// One tile: `count` rows of the left side by one panel of the right. left(i, k): an element of the left side;
// out(i): where row i of the result goes.
template <size_t count, class Left, class Out, class Beside>
HWY_INLINE HWY_ATTR void ComputeTile(const Left& left, const float* HWY_RESTRICT panel, size_t depth,
                                     const Out& out, const float* bias, Start start, const Beside& beside) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V low[count], high[count];
#pragma GCC unroll 16
  for (size_t i = 0; i < count; ++i) {
    const float* from = start == Start::add ? out(i) : bias;
    low[i] = start == Start::zero ? hn::Zero(d) : hn::LoadU(d, from);
    high[i] = start == Start::zero ? hn::Zero(d) : hn::LoadU(d, from + lanes);
  }
  for (size_t k = 0; k < depth; ++k) {
    const V b0 = hn::Load(d, panel), b1 = hn::Load(d, panel + lanes);
    panel += 2 * lanes;
    beside(k);
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) {
      const V a = hn::Set(d, left(i, k));
      low[i] = hn::MulAdd(a, b0, low[i]);
      high[i] = hn::MulAdd(a, b1, high[i]);
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < count; ++i) {
    hn::StoreU(low[i], d, out(i));
    hn::StoreU(high[i], d, out(i) + lanes);
  }
}

// Rows anywhere.
template <size_t count>
HWY_ATTR void ListedTile(const float* const* left, const float* HWY_RESTRICT panel, size_t depth,
                         float* const* out, const float* bias, Start start) {
  const float* rows[count];
#pragma GCC unroll 16
  for (size_t i = 0; i < count; ++i) rows[i] = left[i];
  ComputeTile<count>([&](size_t i, size_t k) HWY_ATTR { return rows[i][k]; }, panel, depth,
                     [&](size_t i) HWY_ATTR { return out[i]; }, bias, start, [](size_t) HWY_ATTR {});
}

// Rows a stride apart. With a pointer to each of them there would not be registers enough for `ahead`, and
// moving pointers to and fro costs as much as multiplying: so there is one to every third.
template <size_t count, bool fetches>
HWY_ATTR void Tile(const float* left, size_t stride, const float* HWY_RESTRICT panel, size_t depth,
                   float* const* out, const float* bias, Start start, Ahead ahead) {
  constexpr size_t groups = (count + 2) / 3;
  const float* rows[groups];
#pragma GCC unroll 16
  for (size_t g = 0; g < groups; ++g) rows[g] = left + 3 * g * stride;
  ComputeTile<count>(
      [&](size_t i, size_t k) HWY_ATTR {
        const float* row = rows[i / 3] + k;
        return i % 3 == 0 ? row[0] : i % 3 == 1 ? row[stride] : row[2 * stride];
      },
      panel, depth, [&](size_t i) HWY_ATTR { return out[i]; }, bias, start,
      [&](size_t) HWY_ATTR {
        if constexpr (fetches) {
          __builtin_prefetch(ahead.from, 0, 2);
          ahead.from += ahead.step;
        }
      });
}

// Rows that PackLeft has laid out, into rows that are a stride apart; most of their tiles are shallow, so
// that pointers to each row would cost more than they may.
template <size_t count>
HWY_ATTR void PackedTile(const float* HWY_RESTRICT left, const float* HWY_RESTRICT panel, size_t depth,
                         float* out, size_t stride, Start start) {
  ComputeTile<count>([&](size_t i, size_t k) HWY_ATTR { return left[k * count + i]; }, panel, depth,
                     [&](size_t i) HWY_ATTR { return out + i * stride; }, nullptr, start,
                     [](size_t) HWY_ATTR {});
}

// Calls body with a number of rows, at most `most`, as a constant.
template <size_t most, class Body>
HWY_INLINE HWY_ATTR void WithRows(size_t count, const Body& body) {
  if (count == most)
    body(std::integral_constant<size_t, most>{});
  else if constexpr (most > 1)
    WithRows<most - 1>(count, body);
}

// The last panel, of which only some columns exist: by way of a whole one. tile(to, stride, start) computes
// it.
template <class WholeTile, class Out>
HWY_NOINLINE HWY_ATTR void EdgeTile(size_t count, size_t columns, const Out& out, const float* bias,
                                    Start start, const WholeTile& tile) {
  constexpr size_t stride = 2 * HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN float edge[tile_rows * stride];
  for (size_t i = 0; i < count && start != Start::zero; ++i) {
    const float* from = start == Start::add ? out(i) : bias;
    for (size_t j = 0; j < PanelWidth(); ++j) edge[i * stride + j] = j < columns ? from[j] : 0.f;
  }
  tile(edge, stride, start == Start::zero ? Start::zero : Start::add);
  for (size_t i = 0; i < count; ++i) std::memcpy(out(i), edge + i * stride, columns * sizeof(float));
}

// The left rows of a tile: a stride apart, or, with a list, anywhere.
struct TileRows {
  const float* first;
  size_t stride;
  const float* const* list;
};

HWY_ATTR void PanelTile(size_t count, const TileRows& left, const float* panel, size_t depth,
                        float* const* out, size_t columns, const float* bias, Start start,
                        const Ahead& ahead) {
  const auto whole = [&](float* const* to, const float* from, Start begin) HWY_ATTR {
    WithRows<tile_rows>(count, [&](auto rows) HWY_ATTR {
      if (left.list != nullptr)
        ListedTile<rows>(left.list, panel, depth, to, from, begin);
      else if (ahead.step > 0)
        Tile<rows, true>(left.first, left.stride, panel, depth, to, from, begin, ahead);
      else
        Tile<rows, false>(left.first, left.stride, panel, depth, to, from, begin, ahead);
    });
  };
  if (columns >= PanelWidth()) return whole(out, bias, start);
  EdgeTile(
      count, columns, [&](size_t i) HWY_ATTR { return out[i]; }, bias, start,
      [&](float* edge, size_t stride, Start begin) HWY_ATTR {
        float* to[tile_rows] = {};
        for (size_t i = 0; i < count; ++i) to[i] = edge + i * stride;
        whole(to, nullptr, begin);
      });
}

HWY_ATTR void PackedPanelTile(size_t count, const float* left, const float* panel, size_t depth, float* out,
                              size_t out_stride, size_t columns, Start start) {
  const auto whole = [&](float* to, size_t stride, Start begin) HWY_ATTR {
    WithRows<tile_rows>(count,
                        [&](auto rows) HWY_ATTR { PackedTile<rows>(left, panel, depth, to, stride, begin); });
  };
  if (columns >= PanelWidth()) return whole(out, out_stride, start);
  EdgeTile(
      count, columns, [&](size_t i) HWY_ATTR { return out + i * out_stride; }, nullptr, start, whole);
}

// Rows in blocks that stay in the second cache, and a part of k at a time; within these all panels. apart:
// nullptr, or memory for a block to be copied to.
HWY_ATTR void Multiply(size_t rows, const ConstRows& in, const PackedMatrix& matrix, const MutableRows& out,
                       Start start, const float* bias, float* apart) {
  const float* packed = matrix.data();
  const size_t depth = matrix.depth(), columns = matrix.columns();
  const size_t width = PanelWidth();
  const LeftBlock block(rows, depth);
  const bool is_listed = apart == nullptr && in.rows != nullptr;
  for (size_t first = 0; first < rows; first += block.rows)
    for (size_t k0 = 0; k0 == 0 || k0 < depth; k0 += block.depth) {
      const size_t count = std::min(block.rows, rows - first), tiles = (count + tile_rows - 1) / tile_rows;
      const size_t ks = std::min(block.depth, depth - k0);
      for (size_t i = 0; i < count && apart != nullptr; ++i)
        std::memcpy(apart + i * block.stride(), in.row(first + i) + k0, ks * sizeof(float));
      const float* near = apart != nullptr ? apart : in.base + (is_listed ? 0 : first * in.stride + k0);
      const size_t near_stride = apart != nullptr ? block.stride() : in.stride;
      for (size_t j = 0; j < columns; j += width) {
        const float* panel = packed + j * depth + k0 * width;
        const bool last = j + width >= columns;
        const float* next = last ? packed + (k0 + ks) * width : panel + width * depth;
        const bool fetches = matrix.comes_from_memory() && !(last && k0 + ks >= depth);
        const size_t step = fetches ? (width * sizeof(float) + tiles - 1) / tiles : 0;
        for (size_t t = 0; t < tiles; ++t) {  // tiles of almost equal height
          const size_t begin = count * t / tiles, end = count * (t + 1) / tiles;
          const float* list[tile_rows];
          float* to[tile_rows];
          for (size_t i = begin; i < end; ++i) {
            if (is_listed) list[i - begin] = in.row(first + i) + k0;
            to[i - begin] = out.row(first + i) + j;
          }
          const TileRows left = {near + begin * near_stride, near_stride, is_listed ? list : nullptr};
          PanelTile(end - begin, left, panel, ks, to, columns - j, bias ? bias + j : nullptr,
                    k0 == 0 ? start : Start::add,
                    {reinterpret_cast<const char*>(next) + t * step * ks, step});
        }
      }
    }
}

// Rows [k0, k0 + ks) of the right side from column j0 on, panel by panel.
HWY_ATTR void PackRight(const ConstRows& right, size_t j0, size_t columns, size_t k0, size_t ks, float* to) {
  const size_t width = PanelWidth();
  for (size_t j = 0; j < columns; j += width)
    for (size_t k = 0; k < ks; ++k, to += width) {
      const float* row = right.row(k0 + k) + j0 + j;
      if (j + width <= columns)
        std::memcpy(to, row, width * sizeof(float));
      else
        for (size_t c = 0; c < width; ++c) to[c] = j + c < columns ? row[c] : 0.f;
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

// All tiles by all panels of what was packed.
HWY_ATTR void PackedBlock(size_t ks, const float* left, size_t rows, const float* panel, size_t columns,
                          float* out, size_t stride, Start start) {
  const size_t width = PanelWidth();
  for (size_t j = 0; j < columns; j += width, panel += width * ks)
    for (size_t i = 0; i < rows; i += tile_rows)
      PackedPanelTile(std::min(tile_rows, rows - i), left + i * ks, panel, ks, out + i * stride + j, stride,
                      columns - j, start);
}

HWY_ATTR void MultiplyTransposed(size_t depth, const ConstRows& left, size_t left_columns,
                                 std::span<const RightSide> rights, float* left_scratch, float* right_scratch,
                                 Start start) {
  const size_t width = PanelWidth(), ks = even_part(depth, ProductScratch::most_depth);
  for (size_t k0 = 0; k0 < depth; k0 += ks) {
    const size_t taken = std::min(ks, depth - k0);
    float* packed = right_scratch;
    for (const RightSide& right : rights) {
      PackRight(right.rows, 0, right.columns, k0, taken, packed);
      packed += (right.columns + width - 1) / width * width * taken;
    }
    for (size_t i0 = 0; i0 < left_columns; i0 += ProductScratch::most_left_columns) {
      const size_t i1 = std::min(left_columns, i0 + ProductScratch::most_left_columns);
      PackLeft(left, k0, taken, i0, i1, left_scratch);
      const float* panels = right_scratch;
      for (const RightSide& right : rights) {
        PackedBlock(taken, left_scratch, i1 - i0, panels, right.columns, right.out + i0 * right.out_stride,
                    right.out_stride, k0 == 0 ? start : Start::add);
        panels += (right.columns + width - 1) / width * width * taken;
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

HWY_EXPORT(Multiply);
HWY_EXPORT(PackRight);
HWY_EXPORT(PackLeft);
HWY_EXPORT(PackedBlock);
HWY_EXPORT(MultiplyTransposed);
HWY_EXPORT(TargetName);

}  // namespace

void multiply(size_t rows, const ConstRows& in, const PackedMatrix& matrix, const MutableRows& out,
              Start start, const float* bias) {
  // Rows a multiple of a page apart would fall into the same few places of the first cache.
  constexpr size_t page = 4096;
  static thread_local AlignedFloats memory;
  float* apart = nullptr;
  if (in.stride * sizeof(float) % page == 0 && matrix.columns() >= 4 * panel_columns()) {
    const LeftBlock block(rows, matrix.depth());
    apart = memory.reserve(block.rows * block.stride());
  }
  HWY_DYNAMIC_DISPATCH(Multiply)
  (rows, in, matrix, out, start, bias, apart);
}

void multiply_transposed(size_t depth, const ConstRows& left, size_t left_columns,
                         std::span<const RightSide> rights, ProductScratch& scratch, Start start) {
  size_t columns = 0;
  for (const RightSide& right : rights) {
    columns += whole_panels(right.columns);
    for (size_t i = 0; i < left_columns && depth == 0 && start == Start::zero; ++i)
      std::memset(right.out + i * right.out_stride, 0, right.columns * sizeof(float));
  }
  const size_t most = std::min(depth, ProductScratch::most_depth);
  float* left_scratch = scratch.left.reserve(most * ProductScratch::most_left_columns);
  float* right_scratch = scratch.right.reserve(most * columns);
  HWY_DYNAMIC_DISPATCH(MultiplyTransposed)
  (depth, left, left_columns, rights, left_scratch, right_scratch, start);
}

// What is multiplied at a time stays in the second cache, and a block and what takes it in the first.
void multiply_transposed_by_blocks(std::span<const uint32_t> bounds, const ConstRows& left,
                                   size_t left_columns, const ConstRows& right, size_t columns,
                                   ProductScratch& scratch, const TakeBlock& take) {
  constexpr size_t block_rows = ProductScratch::block_rows, packed_columns = ProductScratch::packed_columns;
  const size_t depth = bounds.back(), width = panel_columns();
  float* out = scratch.out.reserve(block_rows * width);
  // Calls body with every piece of a part that is multiplied at once: the first k, and how many.
  const auto each_piece = [&](size_t part, const auto& body) {
    const size_t begin = bounds[part], end = bounds[part + 1];
    const size_t ks = even_part(end - begin, ProductScratch::most_depth);
    for (size_t k0 = begin; k0 < end; k0 += ks) body(k0, std::min(ks, end - k0));
  };
  const size_t parts = bounds.size() - 1;
  for (size_t j0 = 0; j0 < columns; j0 += packed_columns) {
    const size_t packed = std::min(packed_columns, columns - j0), stride = whole_panels(packed);
    float* right_scratch = scratch.right.reserve(depth * stride);
    for (size_t part = 0; part < parts; ++part)
      each_piece(part, [&](size_t k0, size_t ks) {
        HWY_DYNAMIC_DISPATCH(PackRight)(right, j0, packed, k0, ks, right_scratch + k0 * stride);
      });
    for (size_t i = 0; i < left_columns; i += block_rows) {
      const size_t rows = std::min(block_rows, left_columns - i);
      float* left_scratch = scratch.left.reserve(depth * block_rows);
      for (size_t part = 0; part < parts; ++part)
        each_piece(part, [&](size_t k0, size_t ks) {
          HWY_DYNAMIC_DISPATCH(PackLeft)(left, k0, ks, i, i + rows, left_scratch + k0 * rows);
        });
      for (size_t j = 0; j < packed; j += width) {
        const size_t count = std::min(width, packed - j);
        const bool last = j0 + j + count == columns && i + rows == left_columns;
        for (size_t part = 0; part < parts; ++part) {
          const bool is_filled = bounds[part] < bounds[part + 1] && count == width;
          if (!is_filled) std::memset(out, 0, rows * width * sizeof(float));
          each_piece(part, [&](size_t k0, size_t ks) {
            HWY_DYNAMIC_DISPATCH(PackedBlock)
            (ks, left_scratch + k0 * rows, rows, right_scratch + k0 * stride + j * ks, count, out, width,
             k0 == bounds[part] ? Start::zero : Start::add);
          });
          take(part, {i, rows, j0 + j, count, out, width, last, part + 1 < parts});
        }
      }
    }
  }
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
