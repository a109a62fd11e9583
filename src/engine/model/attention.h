// Attention of every token of a text to every token of the same text, head by head.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/dropout.h"

namespace paceline {

// A text's queries, keys and values lie side by side: row i is q (width), k (width), v (width).
struct AttentionText {
  size_t tokens, heads, width;  // width: of all heads together
  const float* qkv;
  float* probabilities;    // heads x tokens x tokens: written by forward, read by backward
  const Dropout* dropout;  // of probabilities
  uint64_t first_draw;     // number of the first probability among the dropout's elements
  size_t head_width() const { return width / heads; }
  size_t draws() const { return heads * tokens * tokens; }
};

struct AttentionScratch {
  PackedMatrix right;
  AlignedFloats scores, dropped;
  ProductScratch products;
};

// context: tokens x width.
void attention_forward(const AttentionText& text, float* context, AttentionScratch& scratch);
// d_qkv: as qkv; every value is written.
void attention_backward(const AttentionText& text, const float* d_context, float* d_qkv,
                        AttentionScratch& scratch);

}  // namespace paceline
