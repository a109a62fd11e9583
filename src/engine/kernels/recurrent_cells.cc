#include "engine/kernels/recurrent_cells.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/recurrent_cells.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "engine/kernels/for_vectors-inl.h"
#include "engine/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void LstmForward(const LstmStep& s) {
  const size_t n = s.hidden;
  for (size_t r = 0; r < s.rows; ++r) {
    float* gates = s.gates + r * 4 * n;
    const float* before = s.cell_in ? s.cell_in + r * n : nullptr;
    float *cell = s.cell + r * n, *state = s.state + r * n;
    ForVectors(n, [&](auto d, size_t u) HWY_ATTR {
      const auto i = SigmoidOf(d, hn::LoadU(d, gates + u));
      const auto f = SigmoidOf(d, hn::LoadU(d, gates + n + u));
      const auto g = TanhOf(d, hn::LoadU(d, gates + 2 * n + u));
      const auto o = SigmoidOf(d, hn::LoadU(d, gates + 3 * n + u));
      auto c = hn::Mul(i, g);
      if (before) c = hn::MulAdd(f, hn::LoadU(d, before + u), c);
      hn::StoreU(i, d, gates + u);
      hn::StoreU(f, d, gates + n + u);
      hn::StoreU(g, d, gates + 2 * n + u);
      hn::StoreU(o, d, gates + 3 * n + u);
      hn::StoreU(c, d, cell + u);
      hn::StoreU(hn::Mul(o, TanhOf(d, c)), d, state + u);
    });
  }
}

HWY_ATTR void LstmBackward(const LstmStep& s, const float* d_state, float* d_cell,
                           const MutableRows& d_biases) {
  const size_t n = s.hidden;
  for (size_t r = 0; r < s.rows; ++r) {
    float* gates = s.gates + r * 4 * n;
    const float* before = s.cell_in ? s.cell_in + r * n : nullptr;
    const float *cell = s.cell + r * n, *dh = d_state + r * n;
    float *dc = d_cell + r * n, *d_bias = d_biases.row(r);
    ForVectors(n, [&](auto d, size_t u) HWY_ATTR {
      const auto one = hn::Set(d, 1.0f);
      const auto i = hn::LoadU(d, gates + u), f = hn::LoadU(d, gates + n + u),
                 g = hn::LoadU(d, gates + 2 * n + u), o = hn::LoadU(d, gates + 3 * n + u);
      const auto t = TanhOf(d, hn::LoadU(d, cell + u)), h = hn::LoadU(d, dh + u);
      const auto c = hn::MulAdd(hn::Mul(h, o), hn::NegMulAdd(t, t, one), hn::LoadU(d, dc + u));
      const auto di = hn::Mul(hn::Mul(c, g), hn::Mul(i, hn::Sub(one, i)));
      const auto dg = hn::Mul(hn::Mul(c, i), hn::NegMulAdd(g, g, one));
      const auto dout = hn::Mul(hn::Mul(h, t), hn::Mul(o, hn::Sub(one, o)));
      auto df = hn::Zero(d);
      if (before) df = hn::Mul(hn::Mul(c, hn::LoadU(d, before + u)), hn::Mul(f, hn::Sub(one, f)));
      hn::StoreU(hn::Mul(c, f), d, dc + u);
      hn::StoreU(di, d, gates + u);
      hn::StoreU(df, d, gates + n + u);
      hn::StoreU(dg, d, gates + 2 * n + u);
      hn::StoreU(dout, d, gates + 3 * n + u);
      hn::StoreU(hn::Add(hn::LoadU(d, d_bias + u), di), d, d_bias + u);
      hn::StoreU(hn::Add(hn::LoadU(d, d_bias + n + u), df), d, d_bias + n + u);
      hn::StoreU(hn::Add(hn::LoadU(d, d_bias + 2 * n + u), dg), d, d_bias + 2 * n + u);
      hn::StoreU(hn::Add(hn::LoadU(d, d_bias + 3 * n + u), dout), d, d_bias + 3 * n + u);
    });
  }
}

HWY_ATTR void GruForward(const GruStep& s) {
  const size_t n = s.hidden;
  for (size_t row = 0; row < s.rows; ++row) {
    float *gates = s.gates + row * 3 * n, *candidate = s.candidate + row * n, *state = s.state + row * n;
    const float* recurrent = s.recurrent + row * 3 * n;
    const float* before = s.state_in ? s.state_in + row * n : nullptr;
    ForVectors(n, [&](auto d, size_t u) HWY_ATTR {
      const auto r = SigmoidOf(d, hn::Add(hn::LoadU(d, gates + u), hn::LoadU(d, recurrent + u)));
      const auto z = SigmoidOf(d, hn::Add(hn::LoadU(d, gates + n + u), hn::LoadU(d, recurrent + n + u)));
      const auto side = hn::LoadU(d, recurrent + 2 * n + u);
      const auto c = TanhOf(d, hn::MulAdd(r, side, hn::LoadU(d, gates + 2 * n + u)));
      hn::StoreU(r, d, gates + u);
      hn::StoreU(z, d, gates + n + u);
      hn::StoreU(c, d, gates + 2 * n + u);
      hn::StoreU(side, d, candidate + u);
      // (1 - z) c + z h = c + z (h - c)
      const auto h = before ? hn::LoadU(d, before + u) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(z, hn::Sub(h, c), c), d, state + u);
    });
  }
}

HWY_ATTR void GruBackward(const GruStep& s, float* d_state, const MutableRows& d_biases) {
  const size_t n = s.hidden;
  for (size_t row = 0; row < s.rows; ++row) {
    float *gates = s.gates + row * 3 * n, *candidate = s.candidate + row * n, *dh = d_state + row * n;
    float* d_bias = d_biases.row(row);
    const float* before = s.state_in ? s.state_in + row * n : nullptr;
    ForVectors(n, [&](auto d, size_t u) HWY_ATTR {
      const auto one = hn::Set(d, 1.0f);
      const auto r = hn::LoadU(d, gates + u), z = hn::LoadU(d, gates + n + u),
                 c = hn::LoadU(d, gates + 2 * n + u), side = hn::LoadU(d, candidate + u),
                 h = hn::LoadU(d, dh + u);
      const auto in = before ? hn::LoadU(d, before + u) : hn::Zero(d);
      const auto dc = hn::Mul(hn::Mul(h, hn::Sub(one, z)), hn::NegMulAdd(c, c, one));
      const auto dz = hn::Mul(hn::Mul(h, hn::Sub(in, c)), hn::Mul(z, hn::Sub(one, z)));
      const auto dr = hn::Mul(hn::Mul(dc, side), hn::Mul(r, hn::Sub(one, r)));
      const auto d_side = hn::Mul(dc, r);
      hn::StoreU(dr, d, gates + u);
      hn::StoreU(dz, d, gates + n + u);
      hn::StoreU(dc, d, gates + 2 * n + u);
      hn::StoreU(d_side, d, candidate + u);
      hn::StoreU(hn::Mul(h, z), d, dh + u);
      const auto add = [&](size_t at, auto value) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, d_bias + at + u), value), d, d_bias + at + u);
      };
      add(0, dr);
      add(n, dz);
      add(2 * n, dc);
      add(3 * n, dr);
      add(4 * n, dz);
      add(5 * n, d_side);
    });
  }
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {
HWY_EXPORT(LstmForward);
HWY_EXPORT(LstmBackward);
HWY_EXPORT(GruForward);
HWY_EXPORT(GruBackward);
}  // namespace

void lstm_forward(const LstmStep& step) { HWY_DYNAMIC_DISPATCH(LstmForward)(step); }
void lstm_backward(const LstmStep& step, const float* d_state, float* d_cell, const MutableRows& d_bias) {
  HWY_DYNAMIC_DISPATCH(LstmBackward)(step, d_state, d_cell, d_bias);
}
void gru_forward(const GruStep& step) { HWY_DYNAMIC_DISPATCH(GruForward)(step); }
void gru_backward(const GruStep& step, float* d_state, const MutableRows& d_bias) {
  HWY_DYNAMIC_DISPATCH(GruBackward)(step, d_state, d_bias);
}

}  // namespace paceline
#endif  // HWY_ONCE
