#include "engine/kernels/vocabulary_loss.h"

#include <algorithm>

#include "base/portable_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vocabulary_loss.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "engine/kernels/for_vectors-inl.h"
#include "engine/kernels/row_sums-inl.h"
#include "engine/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR float LargestOf(size_t count, const float* row) {
  const hn::ScalableTag<float> whole;
  auto most = hn::Set(whole, row[0]);
  float rest = row[0];
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, row + i);
    if constexpr (hn::MaxLanes(d) == 1)
      rest = HWY_MAX(rest, hn::GetLane(x));
    else
      most = hn::Max(most, x);
  });
  return HWY_MAX(rest, hn::GetLane(hn::MaxOfLanes(whole, most)));
}

// row = e^(row - largest); returns the sum.
HWY_ATTR float ExpOfRow(size_t count, float largest, float* row) {
  return RowSum(count, [&](auto d, size_t i, auto sum) HWY_ATTR {
    const auto e = ExpOf(d, hn::Sub(hn::LoadU(d, row + i), hn::Set(d, largest)));
    hn::StoreU(e, d, row + i);
    return hn::Add(sum, e);
  });
}

HWY_ATTR void ScaleRow(size_t count, float factor, float* row) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i);
  });
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {
HWY_EXPORT(LargestOf);
HWY_EXPORT(ExpOfRow);
HWY_EXPORT(ScaleRow);
}  // namespace

RowLoss cross_entropy(size_t count, uint32_t truth, float* logits) {
  const float largest = HWY_DYNAMIC_DISPATCH(LargestOf)(count, logits), own = logits[truth];
  const bool right = own == largest && std::find(logits, logits + truth, largest) == logits + truth;
  const float sum = HWY_DYNAMIC_DISPATCH(ExpOfRow)(count, largest, logits);
  HWY_DYNAMIC_DISPATCH(ScaleRow)(count, 1 / sum, logits);
  logits[truth] -= 1;
  return {portable_log(sum) - (static_cast<double>(own) - largest), right};
}

}  // namespace paceline
#endif  // HWY_ONCE
