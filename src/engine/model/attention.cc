#include "engine/model/attention.h"

#include <cmath>

#include "engine/kernels/transformer_rows.h"

namespace paceline {
namespace {

float score_scale(const AttentionText& text) { return 1 / std::sqrt(static_cast<float>(text.head_width())); }

// Draws are numbered as if every token asked, so that they do not depend on which ones do.
void drop_weights(const AttentionText& text, size_t head, const float* values, float* to) {
  const size_t n = text.tokens;
  const uint64_t first = text.first_draw + head * n * n;
  if (text.places == nullptr) return text.dropout->apply(first, values, text.asking * n, to);
  for (size_t i = 0; i < text.asking; ++i)
    text.dropout->apply(first + text.places[i] * n, values + i * n, n, to + i * n);
}

// The probabilities that values are weighted with: after dropout, in `to`, or as they are.
const float* weights_of(const AttentionText& text, size_t head, float* to) {
  const float* probabilities = text.probabilities + head * text.asking * text.tokens;
  if (!text.dropout->active()) return probabilities;
  drop_weights(text, head, probabilities, to);
  return to;
}

}  // namespace

void attention_forward(const AttentionText& text, float* context, AttentionScratch& scratch) {
  const size_t m = text.asking, n = text.tokens, all = text.width, width = text.head_width();
  const float scale = score_scale(text);
  float* dropped = scratch.dropped.reserve(m * n);
  for (size_t head = 0; head < text.heads; ++head) {
    const float *keys = text.keys_values + head * width, *values = keys + all;
    float* p = text.probabilities + head * m * n;
    scratch.right.pack_transposed(keys, width, n, 2 * all);
    multiply(m, {text.queries + head * width, all}, scratch.right, {p, n}, Start::zero);
    for (size_t i = 0; i < m; ++i) softmax_forward(scale, n, p + i * n, p + i * n);
    scratch.right.pack(values, n, width, 2 * all);
    multiply(m, {weights_of(text, head, dropped), n}, scratch.right, {context + head * width, all},
             Start::zero);
  }
}

void attention_backward(const AttentionText& text, const float* d_context, float* d_queries,
                        float* d_keys_values, AttentionScratch& scratch) {
  const size_t m = text.asking, n = text.tokens, all = text.width, width = text.head_width();
  const float scale = score_scale(text);
  float *dropped = scratch.dropped.reserve(m * n), *d_scores = scratch.scores.reserve(m * n);
  for (size_t head = 0; head < text.heads; ++head) {
    const float *queries = text.queries + head * width, *keys = text.keys_values + head * width,
                *d_out = d_context + head * width, *p = text.probabilities + head * m * n;
    float* d_keys = d_keys_values + head * width;
    const RightSide to_values = {{d_out, all}, width, d_keys + all, 2 * all};
    multiply_transposed(m, {weights_of(text, head, dropped), n}, n, {&to_values, 1}, scratch.products);
    scratch.right.pack_transposed(keys + all, width, n, 2 * all);
    multiply(m, {d_out, all}, scratch.right, {d_scores, n}, Start::zero);
    if (text.dropout->active()) drop_weights(text, head, d_scores, d_scores);
    for (size_t i = 0; i < m; ++i) softmax_backward(scale, n, p + i * n, d_scores + i * n, d_scores + i * n);
    scratch.right.pack(keys, n, width, 2 * all);
    multiply(m, {d_scores, n}, scratch.right, {d_queries + head * width, all}, Start::zero);
    const RightSide to_keys = {{queries, all}, width, d_keys, 2 * all};
    multiply_transposed(m, {d_scores, n}, n, {&to_keys, 1}, scratch.products);
  }
}

}  // namespace paceline
