#include "engine/model/attention.h"

#include <cmath>

#include "engine/kernels/transformer_rows.h"

namespace paceline {
namespace {

float score_scale(const AttentionText& text) { return 1 / std::sqrt(static_cast<float>(text.head_width())); }

// The probabilities that values are weighted with: after dropout, in `to`, or as they are.
const float* weights_of(const AttentionText& text, size_t head, float* to) {
  const size_t n = text.tokens;
  const float* probabilities = text.probabilities + head * n * n;
  if (!text.dropout->active()) return probabilities;
  text.dropout->apply(text.first_draw + head * n * n, probabilities, n * n, to);
  return to;
}

}  // namespace

void attention_forward(const AttentionText& text, float* context, AttentionScratch& scratch) {
  const size_t n = text.tokens, all = text.width, width = text.head_width(), stride = 3 * all;
  const float scale = score_scale(text);
  float* dropped = scratch.dropped.reserve(n * n);
  for (size_t head = 0; head < text.heads; ++head) {
    const float* q = text.qkv + head * width;
    float* p = text.probabilities + head * n * n;
    scratch.right.pack_transposed(q + all, width, n, stride);
    multiply(n, {q, stride}, scratch.right, {p, n}, Start::zero);
    for (size_t i = 0; i < n; ++i) softmax_forward(scale, n, p + i * n, p + i * n);
    scratch.right.pack(q + 2 * all, n, width, stride);
    multiply(n, {weights_of(text, head, dropped), n}, scratch.right, {context + head * width, all},
             Start::zero);
  }
}

void attention_backward(const AttentionText& text, const float* d_context, float* d_qkv,
                        AttentionScratch& scratch) {
  const size_t n = text.tokens, all = text.width, width = text.head_width(), stride = 3 * all;
  const float scale = score_scale(text);
  float *dropped = scratch.dropped.reserve(n * n), *d_scores = scratch.scores.reserve(n * n);
  for (size_t head = 0; head < text.heads; ++head) {
    const float *q = text.qkv + head * width, *d_out = d_context + head * width;
    const float* p = text.probabilities + head * n * n;
    float* d_q = d_qkv + head * width;
    const RightSide to_values = {{d_out, all}, width, d_q + 2 * all, stride};
    multiply_transposed(n, {weights_of(text, head, dropped), n}, n, {&to_values, 1}, scratch.products);
    scratch.right.pack_transposed(q + 2 * all, width, n, stride);
    multiply(n, {d_out, all}, scratch.right, {d_scores, n}, Start::zero);
    if (text.dropout->active())
      text.dropout->apply(text.first_draw + head * n * n, d_scores, n * n, d_scores);
    for (size_t i = 0; i < n; ++i) softmax_backward(scale, n, p + i * n, d_scores + i * n, d_scores + i * n);
    scratch.right.pack(q + all, n, width, stride);
    multiply(n, {d_scores, n}, scratch.right, {d_q, stride}, Start::zero);
    const RightSide to_keys = {{q, stride}, width, d_q + all, stride};
    multiply_transposed(n, {d_scores, n}, n, {&to_keys, 1}, scratch.products);
  }
}

}  // namespace paceline
