// A loop over floats in whole vectors, then one by one with the same operations. Included once per target.
#if defined(PACELINE_FOR_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PACELINE_FOR_VECTORS_INL
#undef PACELINE_FOR_VECTORS_INL
#else
#define PACELINE_FOR_VECTORS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {

// Calls body(tag, i), which takes as many values from i on as the tag has lanes.
template <class Body>
HWY_INLINE void ForVectors(size_t count, const Body& body) {
  const hwy::HWY_NAMESPACE::ScalableTag<float> d;
  const hwy::HWY_NAMESPACE::CappedTag<float, 1> one;
  size_t i = 0;
  for (; i + hwy::HWY_NAMESPACE::Lanes(d) <= count; i += hwy::HWY_NAMESPACE::Lanes(d)) body(d, i);
  for (; i < count; ++i) body(one, i);
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
