// Attention of tokens of a text to every token of the same text, head by head.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/dropout.h"

namespace paceline {

// The tokens that ask have a row of queries each; every token has a row of its key (width) and value (width).
struct AttentionText {
  size_t asking, tokens, heads, width;  // width: of all heads together
  const uint32_t* places;               // of those that ask, in the text; nullptr: all do
  const float *queries, *keys_values;
  float* probabilities;    // heads x asking x tokens: written by forward, read by backward
  const Dropout* dropout;  // of probabilities
  uint64_t first_draw;     // number of the first probability among the dropout's elements, if all asked
  size_t head_width() const { return width / heads; }
};

struct AttentionScratch {
  PackedMatrix right;
  AlignedFloats scores, dropped;
  ProductScratch products;
};

// context: asking x width.
void attention_forward(const AttentionText& text, float* context, AttentionScratch& scratch);
// d_queries, d_keys_values: as queries and keys_values; every value is written.
void attention_backward(const AttentionText& text, const float* d_context, float* d_queries,
                        float* d_keys_values, AttentionScratch& scratch);

}  // namespace paceline
