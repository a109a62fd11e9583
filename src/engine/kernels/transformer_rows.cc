#include "engine/kernels/transformer_rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/transformer_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "engine/kernels/for_vectors-inl.h"
#include "engine/kernels/row_sums-inl.h"
#include "engine/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR float NormForward(const NormWeights& weights, size_t width, const float* HWY_RESTRICT input,
                           const float* residual, float* HWY_RESTRICT normalized, float* HWY_RESTRICT out) {
  const float share = 1 / static_cast<float>(width);
  const float mean = share * RowSum(width, [&](auto d, size_t i, auto sum) HWY_ATTR {
                       auto x = hn::LoadU(d, input + i);
                       if (residual) x = hn::Add(x, hn::LoadU(d, residual + i));
                       hn::StoreU(x, d, normalized + i);
                       return hn::Add(sum, x);
                     });
  const float variance = share * RowSum(width, [&](auto d, size_t i, auto sum) HWY_ATTR {
                           const auto x = hn::Sub(hn::LoadU(d, normalized + i), hn::Set(d, mean));
                           return hn::MulAdd(x, x, sum);
                         });
  const float scale = 1 / std::sqrt(variance + weights.epsilon);
  ForVectors(width, [&](auto d, size_t i) HWY_ATTR {
    const auto x = hn::Sub(hn::LoadU(d, normalized + i), hn::Set(d, mean));
    const auto n = hn::Mul(x, hn::Set(d, scale));
    hn::StoreU(n, d, normalized + i);
    hn::StoreU(hn::MulAdd(n, hn::LoadU(d, weights.weight + i), hn::LoadU(d, weights.bias + i)), d, out + i);
  });
  return scale;
}

HWY_ATTR void NormBackward(const float* weight, size_t width, const float* HWY_RESTRICT normalized,
                           float scale, const float* d_out, float* d_input, float* HWY_RESTRICT d_weight,
                           float* HWY_RESTRICT d_bias) {
  const float share = 1 / static_cast<float>(width);
  const float mean = share * RowSum(width, [&](auto d, size_t i, auto sum) HWY_ATTR {
                       return hn::MulAdd(hn::LoadU(d, d_out + i), hn::LoadU(d, weight + i), sum);
                     });
  const float slope = share * RowSum(width, [&](auto d, size_t i, auto sum) HWY_ATTR {
                        const auto g = hn::Mul(hn::LoadU(d, d_out + i), hn::LoadU(d, weight + i));
                        return hn::MulAdd(g, hn::LoadU(d, normalized + i), sum);
                      });
  ForVectors(width, [&](auto d, size_t i) HWY_ATTR {
    const auto out = hn::LoadU(d, d_out + i), n = hn::LoadU(d, normalized + i);
    hn::StoreU(hn::MulAdd(out, n, hn::LoadU(d, d_weight + i)), d, d_weight + i);
    hn::StoreU(hn::Add(out, hn::LoadU(d, d_bias + i)), d, d_bias + i);
    auto g = hn::Sub(hn::Mul(out, hn::LoadU(d, weight + i)), hn::Set(d, mean));
    g = hn::NegMulAdd(n, hn::Set(d, slope), g);
    hn::StoreU(hn::Mul(g, hn::Set(d, scale)), d, d_input + i);
  });
}

// The normal distribution's share below x, and its density: erf by a rational approximation (Abramowitz and
// Stegun 7.1.26) to 1.5e-7, about the last digit of a float near 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalShare(D d, V x, V& density) {
  const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678f));
  const V bell = ExpOf(d, hn::Neg(hn::Mul(z, z)));
  const V t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(z, hn::Set(d, 0.3275911f), hn::Set(d, 1.0f)));
  V p = hn::Set(d, 1.061405429f);
  p = hn::MulAdd(p, t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V tail = hn::Mul(hn::Mul(hn::Mul(p, t), bell), hn::Set(d, 0.5f));  // beyond |x|
  density = hn::Mul(bell, hn::Set(d, 0.39894228f));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

// tanh form: x * s with s = 0.5 (1 + tanh(c (x + 0.044715 x^3))); slope: ds/dx.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhShare(D d, V x, V& slope) {
  const V c = hn::Set(d, 0.79788456f), half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  const V square = hn::Mul(x, x);
  const V t = TanhOf(d, hn::Mul(hn::Mul(c, x), hn::MulAdd(square, hn::Set(d, 0.044715f), one)));
  const V inner = hn::Mul(c, hn::MulAdd(square, hn::Set(d, 3 * 0.044715f), one));
  slope = hn::Mul(hn::Mul(half, hn::NegMulAdd(t, t, one)), inner);
  return hn::MulAdd(half, t, half);
}

// The factor s of x * s, and ds/dx.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ShareOf(Activation kind, D d, V x, V& slope) {
  if (kind == Activation::gelu) return NormalShare(d, x, slope);
  if (kind == Activation::gelu_tanh) return TanhShare(d, x, slope);
  slope = hn::Zero(d);
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), hn::Zero(d));
}

HWY_ATTR void ActivationForward(Activation kind, size_t count, const float* input, float* out) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, input + i);
    auto slope = hn::Zero(d);
    hn::StoreU(hn::Mul(x, ShareOf(kind, d, x, slope)), d, out + i);
  });
}

HWY_ATTR void ActivationBackward(Activation kind, size_t count, const float* input, const float* d_out,
                                 float* d_input) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, input + i);
    auto slope = hn::Zero(d);
    const auto share = ShareOf(kind, d, x, slope);
    hn::StoreU(hn::Mul(hn::LoadU(d, d_out + i), hn::MulAdd(x, slope, share)), d, d_input + i);
  });
}

HWY_ATTR void TanhForward(size_t count, const float* input, float* out) {
  ForVectors(count,
             [&](auto d, size_t i) HWY_ATTR { hn::StoreU(TanhOf(d, hn::LoadU(d, input + i)), d, out + i); });
}

HWY_ATTR void TanhBackward(size_t count, const float* out, const float* d_out, float* d_input) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto t = hn::LoadU(d, out + i);
    hn::StoreU(hn::Mul(hn::LoadU(d, d_out + i), hn::NegMulAdd(t, t, hn::Set(d, 1.0f))), d, d_input + i);
  });
}

HWY_ATTR void SoftmaxForward(float scale, size_t count, const float* input, float* out) {
  const hn::ScalableTag<float> whole;
  auto most = hn::Set(whole, -3e38f);
  float rest = -3e38f;
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto x = hn::Mul(hn::LoadU(d, input + i), hn::Set(d, scale));
    hn::StoreU(x, d, out + i);
    if constexpr (hn::MaxLanes(d) == 1)
      rest = HWY_MAX(rest, hn::GetLane(x));
    else
      most = hn::Max(most, x);
  });
  const float largest = HWY_MAX(rest, hn::GetLane(hn::MaxOfLanes(whole, most)));
  const float sum = RowSum(count, [&](auto d, size_t i, auto so_far) HWY_ATTR {
    const auto e = ExpOf(d, hn::Sub(hn::LoadU(d, out + i), hn::Set(d, largest)));
    hn::StoreU(e, d, out + i);
    return hn::Add(so_far, e);
  });
  const float share = 1 / sum;
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, out + i), hn::Set(d, share)), d, out + i);
  });
}

HWY_ATTR void SoftmaxBackward(float scale, size_t count, const float* probabilities, const float* d_out,
                              float* d_input) {
  const float mean = RowSum(count, [&](auto d, size_t i, auto sum) HWY_ATTR {
    return hn::MulAdd(hn::LoadU(d, probabilities + i), hn::LoadU(d, d_out + i), sum);
  });
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto p = hn::Mul(hn::LoadU(d, probabilities + i), hn::Set(d, scale));
    hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(d, d_out + i), hn::Set(d, mean))), d, d_input + i);
  });
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {
HWY_EXPORT(NormForward);
HWY_EXPORT(NormBackward);
HWY_EXPORT(ActivationForward);
HWY_EXPORT(ActivationBackward);
HWY_EXPORT(TanhForward);
HWY_EXPORT(TanhBackward);
HWY_EXPORT(SoftmaxForward);
HWY_EXPORT(SoftmaxBackward);
}  // namespace

float norm_forward(const NormWeights& weights, size_t width, const float* input, const float* residual,
                   float* normalized, float* out) {
  return HWY_DYNAMIC_DISPATCH(NormForward)(weights, width, input, residual, normalized, out);
}
void norm_backward(const float* weight, size_t width, const float* normalized, float scale,
                   const float* d_out, float* d_input, float* d_weight, float* d_bias) {
  HWY_DYNAMIC_DISPATCH(NormBackward)
  (weight, width, normalized, scale, d_out, d_input, d_weight, d_bias);
}
void activation_forward(Activation kind, size_t count, const float* input, float* out) {
  HWY_DYNAMIC_DISPATCH(ActivationForward)(kind, count, input, out);
}
void activation_backward(Activation kind, size_t count, const float* input, const float* d_out,
                         float* d_input) {
  HWY_DYNAMIC_DISPATCH(ActivationBackward)(kind, count, input, d_out, d_input);
}
void tanh_forward(size_t count, const float* input, float* out) {
  HWY_DYNAMIC_DISPATCH(TanhForward)(count, input, out);
}
void tanh_backward(size_t count, const float* out, const float* d_out, float* d_input) {
  HWY_DYNAMIC_DISPATCH(TanhBackward)(count, out, d_out, d_input);
}
void softmax_forward(float scale, size_t count, const float* input, float* out) {
  HWY_DYNAMIC_DISPATCH(SoftmaxForward)(scale, count, input, out);
}
void softmax_backward(float scale, size_t count, const float* probabilities, const float* d_out,
                      float* d_input) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(scale, count, probabilities, d_out, d_input);
}

}  // namespace paceline
#endif  // HWY_ONCE
