// exp, sigmoid and tanh of float vectors to about one unit in the last place, from operations that
// round alike on every processor with fused multiply-add. Included once per target.
#if defined(PACELINE_VECTOR_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PACELINE_VECTOR_MATH_INL
#undef PACELINE_VECTOR_MATH_INL
#else
#define PACELINE_VECTOR_MATH_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^x for x in [-87, 88]; beyond that the ends of the range.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOf(D d, V x) {
  const hn::RebindToSigned<D> di;
  x = hn::Min(hn::Set(d, 88.0f), hn::Max(hn::Set(d, -87.0f), x));  // in this order NaN stays
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // x - n ln 2, with ln 2 in two parts
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  // The Taylor series on [-ln2/2, ln2/2]: its first missing term is below 2^-27.
  V p = hn::Set(d, 1.0f / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidOf(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, ExpOf(d, hn::Neg(x))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhOf(D d, V x) {
  const V one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  const V large = hn::Sub(one, hn::Div(two, hn::Add(ExpOf(d, hn::Add(x, x)), one)));
  // Near 0 the difference above loses digits; the odd series does not. |x| < 0.3: next term 2^-26 of x.
  const V s = hn::Mul(x, x);
  V p = hn::Set(d, -1382.0f / 155925);
  p = hn::MulAdd(p, s, hn::Set(d, 62.0f / 2835));
  p = hn::MulAdd(p, s, hn::Set(d, -17.0f / 315));
  p = hn::MulAdd(p, s, hn::Set(d, 2.0f / 15));
  p = hn::MulAdd(p, s, hn::Set(d, -1.0f / 3));
  const V small = hn::MulAdd(hn::Mul(p, s), x, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.3f)), small, large);
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
