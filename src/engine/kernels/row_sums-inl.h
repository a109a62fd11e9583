// Sums over a row whose bits do not depend on the width of the vectors: always sixteen sums side by side,
// added up as a tree. Included once per target.
#if defined(PACELINE_ROW_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PACELINE_ROW_SUMS_INL
#undef PACELINE_ROW_SUMS_INL
#else
#define PACELINE_ROW_SUMS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {

inline constexpr size_t row_sums = 16;

// Calls add(tag, i, sum), which returns sum with what the values from i on, as many as the tag has lanes,
// add to it. The values from 16 k to 16 k + 15 go to the sums 0 to 15.
template <class Add>
HWY_INLINE float RowSum(size_t count, const Add& add) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<float, row_sums> d;
  const hn::CappedTag<float, 1> one;
  constexpr size_t most = row_sums / hn::MaxLanes(hn::CappedTag<float, row_sums>());
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[most];
#pragma GCC unroll 4
  for (size_t part = 0; part < most; ++part) sums[part] = hn::Zero(d);
  size_t i = 0;
  for (; i + row_sums <= count; i += row_sums) {
#pragma GCC unroll 4
    for (size_t part = 0; part < most; ++part) sums[part] = add(d, i + part * lanes, sums[part]);
  }
  HWY_ALIGN float each[row_sums];
  for (size_t part = 0; part < most; ++part) hn::Store(sums[part], d, each + part * lanes);
  for (size_t rest = 0; i < count; ++i, ++rest)
    each[rest] = hn::GetLane(add(one, i, hn::Set(one, each[rest])));
  for (size_t half = row_sums / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) each[k] += each[k + half];
  return each[0];
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
