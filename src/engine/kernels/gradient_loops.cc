#include "engine/kernels/gradient_loops.h"

#include <cstring>

#include "base/random.h"

#ifndef PACELINE_STREAM_NUMBERS
#define PACELINE_STREAM_NUMBERS
namespace paceline {
// Those of RandomStream::at() and mix64(), for vectors of them.
constexpr uint64_t stream_step = 0x9E3779B97F4A7C15ull;
constexpr uint64_t mix64_factors[] = {0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull};
}  // namespace paceline
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gradient_loops.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "engine/kernels/for_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Long arrays come from memory, and processors that follow one by themselves stay too close to where it is
// read.
template <class T>
HWY_INLINE void FetchAhead(const T* values) {
  constexpr size_t distance = 4096;  // bytes
  __builtin_prefetch(reinterpret_cast<const char*>(values) + distance);
}

// The bits of |x|, compared as integers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto MagnitudeBits(D, V x) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(di, hn::Abs(x));
}

// What fits into an integer, rounded to the nearest. What does not fit makes its step be repeated, whatever
// becomes of it here, so that it need not be looked after.
template <class D, class V = hn::Vec<D>>
HWY_INLINE HWY_ATTR auto Rounded([[maybe_unused]] D d, V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (hn::MaxLanes(d) == 16)
    return hn::Vec<hn::RebindToSigned<D>>{_mm512_cvtps_epi32(x.raw)};
  else
#endif
    return hn::NearestInt(x);
}

// The largest magnitude of values that come by as vectors or one by one.
class Largest {
 public:
  HWY_INLINE HWY_ATTR Largest() : vector_(hn::Zero(DI())) {}
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE HWY_ATTR void See(D d, V x) {
    if constexpr (hn::MaxLanes(d) == 1)
      one_ = HWY_MAX(one_, hn::GetLane(MagnitudeBits(d, x)));
    else
      vector_ = hn::Max(vector_, MagnitudeBits(d, x));
  }
  HWY_INLINE HWY_ATTR uint32_t bits() const {
    return static_cast<uint32_t>(HWY_MAX(one_, hn::GetLane(hn::MaxOfLanes(DI(), vector_))));
  }

 private:
  using DI = hn::RebindToSigned<hn::ScalableTag<float>>;
  hn::Vec<DI> vector_;
  int32_t one_ = 0;
};

template <RowsGo go>
HWY_ATTR uint32_t FixedRows(const FixedBlock& block, int32_t* to, size_t to_stride) {
  Largest largest;
  for (size_t r = 0; r < block.rows; ++r, to += to_stride) {
    const float* gradient = block.gradient + r * block.stride;
    const int32_t* before = block.before == nullptr ? nullptr : block.before + r * block.stride;
    ForVectors(block.columns, [&](auto tag, size_t i) HWY_ATTR {
      const hn::RebindToSigned<decltype(tag)> integers;
      const auto g = hn::LoadU(tag, gradient + i);
      auto q = Rounded(tag, hn::Mul(g, hn::Set(tag, block.scale)));
      if (before != nullptr) q = hn::Add(q, hn::LoadU(integers, before + i));
      if constexpr (go == RowsGo::onto) q = hn::Add(q, hn::LoadU(integers, to + i));
      if constexpr (go == RowsGo::past_caches && hn::MaxLanes(tag) > 1)
        hn::Stream(q, integers, to + i);
      else
        hn::StoreU(q, integers, to + i);
      largest.See(tag, g);
    });
  }
  return largest.bits();
}

HWY_ATTR uint32_t FixedRowsThere(const FixedBlock& block, int32_t* to, size_t to_stride) {
  return FixedRows<RowsGo::there>(block, to, to_stride);
}
HWY_ATTR uint32_t FixedRowsOnto(const FixedBlock& block, int32_t* to, size_t to_stride) {
  return FixedRows<RowsGo::onto>(block, to, to_stride);
}
HWY_ATTR uint32_t FixedRowsPast(const FixedBlock& block, int32_t* to, size_t to_stride) {
  return FixedRows<RowsGo::past_caches>(block, to, to_stride);
}

HWY_ATTR uint32_t AddFloat(const float* gradient, size_t count, float* sums, bool first) {
  Largest largest;
  ForVectors(count, [&](auto tag, size_t i) HWY_ATTR {
    const auto g = hn::LoadU(tag, gradient + i);
    hn::StoreU(first ? g : hn::Add(g, hn::LoadU(tag, sums + i)), tag, sums + i);
    largest.See(tag, g);
  });
  return largest.bits();
}

HWY_ATTR void AddIntegers(const int32_t* from, size_t count, int32_t* sums) {
  ForVectors(count, [&](auto tag, size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(tag)> d;
    FetchAhead(from + i);
    FetchAhead(sums + i);
    hn::StoreU(hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, sums + i)), d, sums + i);
  });
}

HWY_ATTR void AddFloats(const float* from, size_t count, float* sums) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, sums + i)), d, sums + i);
  });
}

HWY_ATTR void ToFloat(const int32_t* sums, size_t count, float unit, float* values) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::LoadU(di, sums + i)), hn::Set(d, unit)), d, values + i);
  });
}

// A square of a float is exact in double, so it does not matter whether multiplying and adding are fused.
HWY_ATTR double SumOfSquares(const float* values, size_t count) {
  constexpr size_t all = 8;
  const hn::CappedTag<double, all> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr size_t parts = all / hn::MaxLanes(hn::CappedTag<double, all>());
  hn::Vec<decltype(d)> sums[parts];
#pragma GCC unroll 8
  for (size_t part = 0; part < parts; ++part) sums[part] = hn::Zero(d);
  size_t i = 0;
  for (; i + all <= count; i += all) {
#pragma GCC unroll 8
    for (size_t part = 0; part < parts; ++part) {
      const auto x = hn::PromoteTo(d, hn::LoadU(df, values + i + part * hn::Lanes(d)));
      sums[part] = hn::MulAdd(x, x, sums[part]);
    }
  }
  HWY_ALIGN double lanes[all];
  for (size_t part = 0; part < parts; ++part) hn::Store(sums[part], d, lanes + part * hn::Lanes(d));
  for (; i < count; ++i) lanes[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

HWY_ATTR void AdamStep(const AdamNumbers& n, size_t count, const float* gradient, float* values, float* first,
                       float* second) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    FetchAhead(gradient + i);
    FetchAhead(values + i);
    FetchAhead(first + i);
    FetchAhead(second + i);
    auto value = hn::LoadU(d, values + i);
    auto g = hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, n.gradient));
    if (n.l2 != 0) g = hn::MulAdd(hn::Set(d, n.l2), value, g);
    auto m = hn::LoadU(d, first + i), v = hn::LoadU(d, second + i);
    m = hn::MulAdd(hn::Sub(g, m), hn::Set(d, 1 - n.beta1), m);
    v = hn::MulAdd(hn::Mul(g, g), hn::Set(d, 1 - n.beta2), hn::Mul(v, hn::Set(d, n.beta2)));
    const auto root = hn::MulAdd(hn::Sqrt(v), hn::Set(d, n.root_correction), hn::Set(d, n.epsilon));
    if (n.decay != 0) value = hn::NegMulAdd(value, hn::Set(d, n.decay), value);
    value = hn::Sub(value, hn::Div(hn::Mul(m, hn::Set(d, n.rate)), root));
    hn::StoreU(value, d, values + i);
    hn::StoreU(m, d, first + i);
    hn::StoreU(v, d, second + i);
  });
}

HWY_ATTR void Shrink(float decay, size_t count, float* values) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    FetchAhead(values + i);
    const auto value = hn::LoadU(d, values + i);
    hn::StoreU(hn::NegMulAdd(value, hn::Set(d, decay), value), d, values + i);
  });
}

HWY_ATTR void SgdStep(const SgdNumbers& n, size_t count, const float* gradient, float* values,
                      float* velocity) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    auto value = hn::LoadU(d, values + i);
    auto g = hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, n.gradient));
    if (n.l2 != 0) g = hn::MulAdd(hn::Set(d, n.l2), value, g);
    const auto v = hn::MulAdd(hn::LoadU(d, velocity + i), hn::Set(d, n.momentum), g);
    hn::StoreU(v, d, velocity + i);
    hn::StoreU(hn::NegMulAdd(v, hn::Set(d, n.rate), value), d, values + i);
  });
}

HWY_ATTR void MoveAverage(float share, const float* values, size_t count, float* average) {
  ForVectors(count, [&](auto d, size_t i) HWY_ATTR {
    const auto a = hn::LoadU(d, average + i);
    hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, values + i), a), hn::Set(d, share), a), d, average + i);
  });
}

// apply_dropout() of whole vectors, from an even element on: one 64-bit number of the stream is the draws of
// two neighbours. Returns how many elements it did.
HWY_ATTR size_t DropVectors([[maybe_unused]] uint64_t key, [[maybe_unused]] uint64_t first,
                            [[maybe_unused]] uint32_t threshold, [[maybe_unused]] float scale,
                            [[maybe_unused]] const float* values, [[maybe_unused]] size_t count,
                            [[maybe_unused]] float* to) {
#if HWY_TARGET == HWY_SCALAR
  return 0;
#else
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RepartitionToWide<decltype(du)> dw;
  const auto shifted_product = [&](auto x, auto by, uint64_t factor)
                                   HWY_ATTR { return hn::Mul(hn::Xor(x, by), hn::Set(dw, factor)); };
  const size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(du, threshold);
  const auto factor = hn::Set(d, scale);
  auto counter = hn::Add(hn::Set(dw, key + (first / 2 + 1) * stream_step),
                         hn::Mul(hn::Iota(dw, 0), hn::Set(dw, stream_step)));
  const auto step = hn::Set(dw, lanes / 2 * stream_step);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto x = shifted_product(counter, hn::ShiftRight<30>(counter), mix64_factors[0]);
    x = shifted_product(x, hn::ShiftRight<27>(x), mix64_factors[1]);
    x = hn::Xor(x, hn::ShiftRight<31>(x));
    counter = hn::Add(counter, step);
    const auto dropped = hn::RebindMask(d, hn::Lt(hn::BitCast(du, x), limit));
    hn::StoreU(hn::IfThenZeroElse(dropped, hn::Mul(hn::LoadU(d, values + i), factor)), d, to + i);
  }
  return i;
#endif
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {
HWY_EXPORT(FixedRowsThere);
HWY_EXPORT(FixedRowsOnto);
HWY_EXPORT(FixedRowsPast);
HWY_EXPORT(AddFloat);
HWY_EXPORT(AddIntegers);
HWY_EXPORT(AddFloats);
HWY_EXPORT(ToFloat);
HWY_EXPORT(AdamStep);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(Shrink);
HWY_EXPORT(SgdStep);
HWY_EXPORT(MoveAverage);
HWY_EXPORT(DropVectors);
}  // namespace

uint32_t put_fixed(const FixedBlock& block, int32_t* to, size_t to_stride, RowsGo go) {
  if (go == RowsGo::onto) return HWY_DYNAMIC_DISPATCH(FixedRowsOnto)(block, to, to_stride);
  constexpr size_t line = 64 / sizeof(int32_t);  // no vector is larger
  const bool lines = reinterpret_cast<uintptr_t>(to) % 64 == 0 && (to_stride | block.columns) % line == 0;
  return go == RowsGo::past_caches && lines ? HWY_DYNAMIC_DISPATCH(FixedRowsPast)(block, to, to_stride)
                                            : HWY_DYNAMIC_DISPATCH(FixedRowsThere)(block, to, to_stride);
}
uint32_t add_fixed(const float* gradient, size_t count, float scale, int32_t* sums, bool first) {
  return put_fixed({gradient, nullptr, 1, count, count, scale}, sums, count,
                   first ? RowsGo::there : RowsGo::onto);
}
uint32_t add_float(const float* gradient, size_t count, float* sums, bool first) {
  return HWY_DYNAMIC_DISPATCH(AddFloat)(gradient, count, sums, first);
}
void add_integers(const int32_t* from, size_t count, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddIntegers)(from, count, sums);
}
void end_streams() { hwy::FlushStream(); }
void add_floats(const float* from, size_t count, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddFloats)(from, count, sums);
}
void to_float(const int32_t* sums, size_t count, float unit, float* values) {
  HWY_DYNAMIC_DISPATCH(ToFloat)(sums, count, unit, values);
}
double sum_of_squares(const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(values, count);
}
void adam_step(const AdamNumbers& numbers, size_t count, const float* gradient, float* values, float* first,
               float* second) {
  HWY_DYNAMIC_DISPATCH(AdamStep)(numbers, count, gradient, values, first, second);
}
void shrink(float decay, size_t count, float* values) { HWY_DYNAMIC_DISPATCH(Shrink)(decay, count, values); }
void sgd_step(const SgdNumbers& numbers, size_t count, const float* gradient, float* values,
              float* velocity) {
  HWY_DYNAMIC_DISPATCH(SgdStep)(numbers, count, gradient, values, velocity);
}
void move_average(float share, const float* values, size_t count, float* average) {
  HWY_DYNAMIC_DISPATCH(MoveAverage)(share, values, count, average);
}

void apply_dropout(uint64_t key, uint64_t first, uint32_t threshold, float scale, const float* values,
                   size_t count, float* to) {
  const RandomStream stream(key);
  uint64_t number = first;
  const uint64_t end = first + count;
  const auto put = [&](uint32_t draw) {
    *to++ = draw < threshold ? 0.f : *values * scale;
    ++values;
    ++number;
  };
  if (number < end && number % 2 == 1) put(static_cast<uint32_t>(stream.at(number / 2) >> 32));
  const size_t done =
      HWY_DYNAMIC_DISPATCH(DropVectors)(key, number, threshold, scale, values, end - number, to);
  number += done;
  values += done;
  to += done;
  while (number + 1 < end) {
    const uint64_t draw = stream.at(number / 2);
    put(static_cast<uint32_t>(draw));
    put(static_cast<uint32_t>(draw >> 32));
  }
  if (number < end) put(static_cast<uint32_t>(stream.at(number / 2)));
}

}  // namespace paceline
#endif  // HWY_ONCE
