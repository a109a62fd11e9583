#include "engine/kernels/packed_matrix.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/packed_matrix.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/kernels/panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

size_t PanelColumns() { return PanelWidth(); }

// From the first cache to where it is not read again soon: past the caches, or as usual.
template <bool past>
HWY_INLINE HWY_ATTR void Put(const float* from, size_t count, float* to) {
  const D d;
  for (size_t i = 0; i < count; i += hn::Lanes(d))
    if constexpr (past)
      hn::Stream(hn::LoadU(d, from + i), d, to + i);
    else
      hn::Store(hn::LoadU(d, from + i), d, to + i);
}

// `count` rows of a matrix into its panels, which are panel_floats apart.
template <bool past>
HWY_ATTR void PutRows(const float* rows, size_t stride, size_t count, size_t columns, float* to,
                      size_t panel_floats) {
  const size_t width = PanelWidth();
  for (size_t j = 0; j < columns; j += width, to += panel_floats)
    for (size_t k = 0; k < count; ++k) {
      const float* row = rows + k * stride + j;
      if (j + width <= columns)
        Put<past>(row, width, to + k * width);
      else
        for (size_t c = 0; c < width; ++c) to[k * width + c] = j + c < columns ? row[c] : 0.f;
    }
}

// to[k * width + c] = rows[c * stride + k], for up to 16 k and `count` columns; behind these zeros.
HWY_INLINE HWY_ATTR void Transpose(const float* rows, size_t stride, size_t count, size_t ks, float* to) {
  const size_t width = PanelWidth();
  size_t whole_k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  whole_k = ks / 4 * 4;
  for (size_t c = 0; c < width; c += 4)
    for (size_t k = 0; k < whole_k; k += 4) {
      float* at = to + k * width + c;
      const auto row = [&](size_t i) HWY_ATTR {
        return c + i < count ? hn::LoadU(d, rows + (c + i) * stride + k) : hn::Zero(d);
      };
      const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
      const auto low01 = hn::InterleaveLower(d, r0, r1), high01 = hn::InterleaveUpper(d, r0, r1),
                 low23 = hn::InterleaveLower(d, r2, r3), high23 = hn::InterleaveUpper(d, r2, r3);
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, at);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, at + width);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, at + 2 * width);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, at + 3 * width);
    }
#endif
  for (size_t k = whole_k; k < ks; ++k)
    for (size_t c = 0; c < width; ++c) to[k * width + c] = c < count ? rows[c * stride + k] : 0.f;
}

// `count` rows of a matrix as the columns of one panel. Where the panel goes past the caches, its rows come
// from memory and so do those behind them, which are asked for meanwhile.
template <bool past>
HWY_ATTR void PutColumns(const float* rows, size_t stride, size_t count, size_t depth, float* to) {
  constexpr size_t at_once = 16;
  HWY_ALIGN float block[at_once * 2 * HWY_MAX_BYTES / sizeof(float)];
  const size_t width = PanelWidth();
  for (size_t k = 0; k < depth; k += at_once) {
    const size_t ks = std::min(at_once, depth - k);
    for (size_t c = 0; past && c < count; ++c) __builtin_prefetch(rows + (count + c) * stride + k);
    Transpose(rows + k, stride, count, ks, past ? block : to + k * width);
    if (past) Put<true>(block, ks * width, to + k * width);
  }
}

HWY_ATTR void PutRowsNear(const float* rows, size_t stride, size_t count, size_t columns, float* to,
                          size_t panel_floats) {
  PutRows<false>(rows, stride, count, columns, to, panel_floats);
}
HWY_ATTR void PutRowsPast(const float* rows, size_t stride, size_t count, size_t columns, float* to,
                          size_t panel_floats) {
  PutRows<true>(rows, stride, count, columns, to, panel_floats);
}
HWY_ATTR void PutColumnsNear(const float* rows, size_t stride, size_t count, size_t depth, float* to) {
  PutColumns<false>(rows, stride, count, depth, to);
}
HWY_ATTR void PutColumnsPast(const float* rows, size_t stride, size_t count, size_t depth, float* to) {
  PutColumns<true>(rows, stride, count, depth, to);
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(PanelColumns);
HWY_EXPORT(PutRowsNear);
HWY_EXPORT(PutRowsPast);
HWY_EXPORT(PutColumnsNear);
HWY_EXPORT(PutColumnsPast);

}  // namespace

size_t panel_columns() {
  static const size_t columns = HWY_DYNAMIC_DISPATCH(PanelColumns)();
  return columns;
}

size_t whole_panels(size_t columns) {
  return (columns + panel_columns() - 1) / panel_columns() * panel_columns();
}

void AlignedFloats::Free::operator()(void* memory) const {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): memory from std::aligned_alloc
}

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

void PackedMatrix::begin(size_t depth, size_t columns) {
  depth_ = depth;
  columns_ = columns;
  values_.reserve(depth * whole_panels(columns));
}

// A large matrix goes past the caches, which would lose it before it is used.
bool PackedMatrix::is_large() const { return depth_ * columns_ >= size_t{1} << 19; }

void PackedMatrix::put_rows(size_t first, size_t count, const float* rows, size_t stride) {
  float* to = values_.data() + first * panel_columns();
  const size_t panel = depth_ * panel_columns();
  if (is_large())
    HWY_DYNAMIC_DISPATCH(PutRowsPast)(rows, stride, count, columns_, to, panel);
  else
    HWY_DYNAMIC_DISPATCH(PutRowsNear)(rows, stride, count, columns_, to, panel);
}

void PackedMatrix::put_columns(size_t first, size_t count, const float* rows, size_t stride) {
  const size_t width = panel_columns();
  for (size_t c = 0; c < count; c += width) {
    float* to = values_.data() + (first + c) * depth_;
    const size_t some = std::min(width, count - c);
    if (is_large())
      HWY_DYNAMIC_DISPATCH(PutColumnsPast)(rows + c * stride, stride, some, depth_, to);
    else
      HWY_DYNAMIC_DISPATCH(PutColumnsNear)(rows + c * stride, stride, some, depth_, to);
  }
}

void PackedMatrix::end() {
  if (is_large()) hwy::FlushStream();
}

void PackedMatrix::pack(const float* matrix, size_t depth, size_t columns, size_t stride) {
  begin(depth, columns);
  for (size_t k = 0; k < depth; k += rows_at_once)
    put_rows(k, std::min(rows_at_once, depth - k), matrix + k * stride, stride);
  end();
}

void PackedMatrix::pack_transposed(const float* matrix, size_t depth, size_t columns, size_t stride) {
  begin(depth, columns);
  put_columns(0, columns, matrix, stride);
  end();
}

void pack_both(const float* matrix, size_t rows, size_t columns, PackedMatrix& plain,
               PackedMatrix& transposed) {
  plain.begin(rows, columns);
  transposed.begin(columns, rows);
  plain.comes_from_memory_ = transposed.comes_from_memory_ = true;
  for (size_t i = 0; i < rows; i += PackedMatrix::rows_at_once) {
    const size_t count = std::min(PackedMatrix::rows_at_once, rows - i);
    transposed.put_columns(i, count, matrix + i * columns, columns);
    plain.put_rows(i, count, matrix + i * columns, columns);
  }
  plain.end();
  transposed.end();
}

}  // namespace paceline
#endif
