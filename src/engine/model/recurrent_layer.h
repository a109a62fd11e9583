// One direction of one layer of LSTM or GRU cells over packed grains.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/packed_grains.h"

namespace paceline {

enum class Cell { lstm, gru };
inline size_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : 3; }

// Weights in PyTorch's layout, and packed for the products.
struct RecurrentWeights {
  Cell cell = Cell::lstm;
  size_t input = 0, hidden = 0;
  const float *weight_ih = nullptr, *weight_hh = nullptr, *bias_ih = nullptr, *bias_hh = nullptr;

  void pack();                                    // after every change of the weights
  PackedMatrix from_input, from_state;            // forward
  PackedMatrix to_input, to_state, to_candidate;  // backward; to_candidate: GRU's third gate alone
  std::vector<float> bias;                        // of the gates' sums: for LSTM both biases together
};

struct RecurrentGradients {
  std::vector<float> weight_ih, weight_hh, bias_ih, bias_hh;
};

// What forward leaves for backward, and memory for both.
struct RecurrentCache {
  AlignedFloats gates, cell, state, masked, recurrent, d_state, d_cell, d_product;
  std::vector<float> d_bias;  // of each grain: of the input side, then for GRU of the recurrent side
  std::vector<uint32_t> input_rows, state_rows;  // of one grain
  ProductScratch scratch;
};

// rows: of `input`, for each row of this direction. mask: sequences x hidden factors for the state on its
// way into the recurrent product, or nullptr. Leaves the states, tokens x hidden, in cache.state.
void recurrent_forward(const RecurrentWeights& weights, const PackedGrains& packed, const ConstRows& input,
                       const float* mask, RecurrentCache& cache);

// d_output: gradient of the states, row by row of this direction. d_input: receives (Start::zero) or
// gathers (Start::add) the gradient of the input.
void recurrent_backward(const RecurrentWeights& weights, const PackedGrains& packed, const float* mask,
                        const ConstRows& d_output, const MutableRows& d_input, Start start,
                        RecurrentCache& cache);

// After recurrent_backward: the gradients of the weights, from one of the grains.
void recurrent_weight_gradients(const RecurrentWeights& weights, const PackedGrains& packed, size_t grain,
                                const ConstRows& input, const float* mask, RecurrentCache& cache,
                                RecurrentGradients& gradients);

}  // namespace paceline
