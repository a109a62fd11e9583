// The element-wise half of LSTM and GRU cells, forward and backward, for all sequences that are active at
// one moment. The matrix products around them are multiply() of gemm.h.
#pragma once
#include "engine/kernels/gemm.h"

namespace paceline {

// `rows` sequences of `hidden` units. Pointers without a stride of their own are rows x hidden.
struct LstmStep {
  size_t rows, hidden;
  float*
      gates;  // rows x 4 hidden (i, f, g, o): in sums, out activations; backward: out gradients of the sums
  const float* cell_in;  // nullptr: zeros (the first step)
  float* cell;
  float* state;  // h
};
void lstm_forward(const LstmStep& step);
// d_state: gradient of h; d_cell: in the gradient that came from the next step, out the one for the step
// before; d_bias (4 hidden each): row r's gradients of the sums are added to d_bias.row(r), row after row.
void lstm_backward(const LstmStep& step, const float* d_state, float* d_cell, const MutableRows& d_bias);

struct GruStep {
  size_t rows, hidden;
  float*
      gates;  // rows x 3 hidden (r, z, n): in sums of the input, out activations; backward: their gradients
  float* recurrent;  // rows x 3 hidden: sums of the recurrent side, biases included
  float* candidate;  // rows x hidden: kept from forward (the recurrent side of n); backward: its gradient
  const float* state_in;  // nullptr: zeros
  float* state;
};
// recurrent is read in forward only.
void gru_forward(const GruStep& step);
// d_state: in the gradient of h, out its part that reaches the step before directly (through z).
// d_bias, likewise: 3 hidden of the input side, then 3 hidden of the recurrent side.
void gru_backward(const GruStep& step, float* d_state, const MutableRows& d_bias);

}  // namespace paceline
