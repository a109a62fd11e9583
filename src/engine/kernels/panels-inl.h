// How wide a panel is: two vectors of columns. Included once per target.
#if defined(PACELINE_PANELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PACELINE_PANELS_INL
#undef PACELINE_PANELS_INL
#else
#define PACELINE_PANELS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {

HWY_INLINE size_t PanelWidth() {
  return 2 * hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<float>());
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
