#include "engine/model/recurrent_layer.h"

#include <array>
#include <cstring>

#include "engine/kernels/gradient_loops.h"
#include "engine/kernels/recurrent_cells.h"

namespace paceline {
namespace {

// Whose gates stay in the cache from the inputs' product to the cells, and backward from these to that.
constexpr size_t chunk_rows = 192;

void multiply_by_mask(const float* values, const float* mask, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = values[i] * mask[i];
}

// Gradients of biases: an LSTM's two have the same.
size_t bias_sums(const RecurrentWeights& w) {
  const size_t G = gates_of(w.cell) * w.hidden;
  return w.cell == Cell::lstm ? G : 2 * G;
}

// Some of the rows of a matrix; list: memory for their numbers.
ConstRows chosen_rows(const ConstRows& all, const std::vector<uint32_t>& chosen,
                      std::vector<uint32_t>& list) {
  if (!all.rows) return {all.base, all.stride, chosen.data()};
  list.clear();
  for (uint32_t row : chosen) list.push_back(all.rows[row]);
  return {all.base, all.stride, list.data()};
}

template <class Rows>
Rows rows_from(const Rows& all, size_t first) {
  return all.rows ? Rows{all.base, all.stride, all.rows + first}
                  : Rows{all.base + first * all.stride, all.stride};
}

// The first moment behind a chunk of at least chunk_rows rows.
size_t end_of_chunk(const PackedGrains& packed, size_t moment) {
  size_t end = moment + 1;
  while (end < packed.moments() && packed.begin[end] - packed.begin[moment] < chunk_rows) ++end;
  return end;
}

// Products of the recurrent side and the cells of one moment.
void forward_moment(const RecurrentWeights& w, const PackedGrains& packed, size_t moment, const float* mask,
                    RecurrentCache& cache) {
  const size_t n = packed.active(moment), H = w.hidden, row = packed.begin[moment], G = gates_of(w.cell) * H;
  const size_t last = moment > 0 ? packed.begin[moment - 1] : 0;
  float *gates = cache.gates.data() + row * G, *states = cache.state.data();
  const float* in = moment > 0 ? states + last * H : nullptr;
  const float* product_in = in;
  if (mask && in) {
    multiply_by_mask(in, mask, n * H, cache.masked.data() + row * H);
    product_in = cache.masked.data() + row * H;
  }
  if (w.cell == Cell::lstm) {
    if (in) multiply(n, {product_in, H}, w.from_state, {gates, G}, Start::add);
    float* cell = cache.cell.data();
    lstm_forward({n, H, gates, in ? cell + last * H : nullptr, cell + row * H, states + row * H});
    return;
  }
  float* recurrent = cache.recurrent.data();
  if (in)
    multiply(n, {product_in, H}, w.from_state, {recurrent, G}, Start::bias, w.bias_hh);
  else
    for (size_t i = 0; i < n; ++i) std::memcpy(recurrent + i * G, w.bias_hh, G * sizeof(float));
  gru_forward({n, H, gates, recurrent, cache.cell.data() + row * H, in, states + row * H});
}

// The gradient of the states before, through the recurrent product, into cache.d_state.
void back_through_product(const RecurrentWeights& w, size_t n, const float* gates, const float* candidate,
                          const float* mask, RecurrentCache& cache) {
  const size_t H = w.hidden, G = gates_of(w.cell) * H;
  const bool gru = w.cell == Cell::gru;
  float* d_state = cache.d_state.data();
  float* to = gru && mask ? cache.d_product.data() : d_state;
  // A GRU's state reaches the next one also directly: that part is in d_state already.
  multiply(n, {gates, G}, w.to_state, {to, H}, gru && !mask ? Start::add : Start::zero);
  if (gru) multiply(n, {candidate, H}, w.to_candidate, {to, H}, Start::add);
  if (!mask) return;
  multiply_by_mask(to, mask, n * H, to);
  if (gru) add_floats(to, n * H, d_state);
}

void backward_moment(const RecurrentWeights& w, const PackedGrains& packed, size_t moment, const float* mask,
                     const ConstRows& d_output, RecurrentCache& cache) {
  const size_t n = packed.active(moment), H = w.hidden, row = packed.begin[moment], G = gates_of(w.cell) * H;
  const size_t last = moment > 0 ? packed.begin[moment - 1] : 0;
  float *gates = cache.gates.data() + row * G, *cell = cache.cell.data(), *states = cache.state.data();
  float* d_state = cache.d_state.data();
  const MutableRows d_bias = {cache.d_bias.data(), bias_sums(w), packed.grains.data()};
  for (size_t i = 0; i < n; ++i) add_floats(d_output.row(row + i), H, d_state + i * H);
  if (w.cell == Cell::lstm)
    lstm_backward({n, H, gates, moment > 0 ? cell + last * H : nullptr, cell + row * H, nullptr}, d_state,
                  cache.d_cell.data(), d_bias);
  else
    gru_backward({n, H, gates, nullptr, cell + row * H, moment > 0 ? states + last * H : nullptr, nullptr},
                 d_state, d_bias);
  if (moment > 0) back_through_product(w, n, gates, cell + row * H, mask, cache);
}

}  // namespace

void recurrent_weight_gradients(const RecurrentWeights& w, const PackedGrains& packed, size_t grain,
                                const ConstRows& input, const float* mask, RecurrentCache& cache,
                                RecurrentGradients& gradients) {
  const size_t H = w.hidden, G = gates_of(w.cell) * H;
  const std::vector<uint32_t>& rows = packed.rows_of[grain];
  gradients.weight_ih.resize(G * w.input);
  gradients.weight_hh.resize(G * H);
  const ConstRows inputs = chosen_rows(input, rows, cache.input_rows);
  const ConstRows states = chosen_rows(
      mask ? ConstRows{cache.masked.data(), H} : ConstRows{cache.state.data(), H, packed.before.data()}, rows,
      cache.state_rows);
  const auto from_input = [&](size_t gate) {
    return RightSide{inputs, w.input, gradients.weight_ih.data() + gate * H * w.input, w.input};
  };
  const auto from_state = [&](size_t gate) {
    return RightSide{states, H, gradients.weight_hh.data() + gate * H * H, H};
  };
  const auto left = [&](const float* base, size_t stride) { return ConstRows{base, stride, rows.data()}; };
  const float *gates = cache.gates.data(), *candidate = cache.cell.data();
  // A GRU's third gate has sums of its own on each side.
  const size_t shared = w.cell == Cell::lstm ? 4 : 2;
  multiply_transposed(rows.size(), left(gates, G), shared * H, std::array{from_input(0), from_state(0)},
                      cache.scratch);
  if (w.cell == Cell::gru) {
    multiply_transposed(rows.size(), left(gates + 2 * H, G), H, std::array{from_input(2)}, cache.scratch);
    multiply_transposed(rows.size(), left(candidate, H), H, std::array{from_state(2)}, cache.scratch);
  }
  const size_t sums = bias_sums(w);
  const float* d_bias = cache.d_bias.data() + grain * sums;
  gradients.bias_ih.assign(d_bias, d_bias + G);
  gradients.bias_hh.assign(d_bias + sums - G, d_bias + sums);
}

void RecurrentWeights::pack() {
  const size_t G = gates_of(cell) * hidden, own = cell == Cell::lstm ? G : 2 * hidden;
  from_input.pack_transposed(weight_ih, input, G, input);
  from_state.pack_transposed(weight_hh, hidden, G, hidden);
  to_input.pack(weight_ih, G, input, input);
  to_state.pack(weight_hh, own, hidden, hidden);
  if (cell == Cell::gru) to_candidate.pack(weight_hh + own * hidden, hidden, hidden, hidden);
  bias.assign(bias_ih, bias_ih + G);
  if (cell == Cell::lstm)
    for (size_t i = 0; i < G; ++i) bias[i] += bias_hh[i];
}

void recurrent_forward(const RecurrentWeights& w, const PackedGrains& packed, const ConstRows& input,
                       const float* mask, RecurrentCache& cache) {
  const size_t H = w.hidden, G = gates_of(w.cell) * H, T = packed.tokens();
  float* gates = cache.gates.reserve(T * G);
  cache.cell.reserve(T * H);
  // Before the first moment the state is zero: one row behind the others, which packed.before names.
  std::memset(cache.state.reserve((T + 1) * H) + T * H, 0, H * sizeof(float));
  if (mask) std::memset(cache.masked.reserve(T * H), 0, packed.active(0) * H * sizeof(float));
  if (w.cell == Cell::gru) cache.recurrent.reserve(packed.sequences() * G);
  for (size_t moment = 0; moment < packed.moments();) {
    const size_t end = end_of_chunk(packed, moment), row = packed.begin[moment];
    multiply(packed.begin[end] - row, rows_from(input, row), w.from_input, {gates + row * G, G}, Start::bias,
             w.bias.data());
    for (; moment < end; ++moment) forward_moment(w, packed, moment, mask, cache);
  }
}

void recurrent_backward(const RecurrentWeights& w, const PackedGrains& packed, const float* mask,
                        const ConstRows& d_output, const MutableRows& d_input, Start start,
                        RecurrentCache& cache) {
  const size_t H = w.hidden, G = gates_of(w.cell) * H, N = packed.sequences();
  std::memset(cache.d_state.reserve(N * H), 0, N * H * sizeof(float));
  std::memset(cache.d_cell.reserve(N * H), 0, N * H * sizeof(float));
  cache.d_product.reserve(N * H);
  cache.d_bias.assign(packed.grain_count() * bias_sums(w), 0.f);
  size_t behind = packed.tokens();  // rows from here on have given their inputs' gradients
  for (size_t moment = packed.moments(); moment-- > 0;) {
    backward_moment(w, packed, moment, mask, d_output, cache);
    const size_t row = packed.begin[moment];
    if (moment > 0 && behind - row < chunk_rows) continue;
    multiply(behind - row, {cache.gates.data() + row * G, G}, w.to_input, rows_from(d_input, row), start);
    behind = row;
  }
}

}  // namespace paceline
