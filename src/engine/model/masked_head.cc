#include "engine/model/masked_head.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "engine/kernels/gradient_loops.h"

namespace paceline {

MaskedHead::MaskedHead(ParameterStore& store, size_t words, const EncoderLayer::Shape& shape)
    : store_(store), shape_(shape), words_(words) {
  transform_ = add_linear(store, "cls.predictions.transform.dense", shape.width, shape.width);
  norm_ = add_norm(store, "cls.predictions.transform.LayerNorm", shape.width);
  bias_ = store.add("cls.predictions.bias", {pieces()}, false);
  for (size_t begin = 0; begin < pieces(); begin += block_pieces)
    blocks_.push_back({begin, std::min(pieces(), begin + block_pieces), {}, {}});
}

void MaskedHead::fill(ParameterStore& store, uint64_t seed, double deviation) const {
  store.fill_normal(transform_.weight(), seed, deviation);
  store.fill(norm_.weight, 1);
}

void MaskedHead::pack(size_t part) {
  if (part == blocks_.size()) return transform_.pack();
  Block& block = blocks_[part];
  const size_t width = shape_.width, count = block.end - block.begin;
  const float* values = store_[words_].values + block.begin * width;
  pack_both(values, count, width, block.back, block.ahead);
}

void MaskedHead::forward(size_t count, const float* input, MaskedHeadSpace& space) const {
  const size_t width = shape_.width;
  float *sums = space.sums.reserve(count * width), *activated = space.activated.reserve(count * width);
  transform_.forward(count, {input, width}, {sums, width});
  activation_forward(shape_.activation, count * width, sums, activated);
  drop_add_norm(store_, norm_, shape_.epsilon, count, width, {}, activated, {}, space.norm,
                space.hidden.reserve(count * width));
}

float* MaskedHead::decode(size_t first, size_t count, MaskedHeadSpace& space) const {
  float* logits = space.logits.reserve(count * stride());
  const ConstRows hidden = {space.hidden.data() + first * shape_.width, shape_.width};
  for (const Block& block : blocks_)
    multiply(count, hidden, block.ahead, {logits + block.begin, stride()}, Start::bias,
             store_[bias_].values + block.begin);
  return logits;
}

void MaskedHead::decode_backward(size_t first, size_t count, bool words_learn, MaskedHeadSpace& space,
                                 ProductScratch& scratch) const {
  const size_t width = shape_.width;
  const float* d_logits = space.logits.data();
  float* d_hidden = space.d_hidden.data() + first * width;
  for (size_t i = 0; i < count; ++i) add_floats(d_logits + i * stride(), pieces(), space.d_bias.data());
  for (const Block& block : blocks_)
    multiply(count, {d_logits + block.begin, stride()}, block.back, {d_hidden, width},
             block.begin == 0 ? Start::zero : Start::add);
  if (!words_learn) return;
  const RightSide right = {{space.hidden.data() + first * width, width}, width, space.d_words.data(), width};
  multiply_transposed(count, {d_logits, stride()}, pieces(), {&right, 1}, scratch,
                      first == 0 ? Start::zero : Start::add);
}

GrainLoss MaskedHead::train(std::span<const uint32_t> truths, const float* input, float* d_input,
                            bool words_learn, MaskedHeadSpace& space, EncoderScratch& scratch,
                            const PartSink& sink) const {
  const size_t count = truths.size(), width = shape_.width;
  PACELINE_ASSERT(count > 0);
  forward(count, input, space);
  float *d_hidden = space.d_hidden.reserve(count * width), *d_bias = space.d_bias.reserve(pieces());
  std::memset(d_bias, 0, pieces() * sizeof(float));
  if (words_learn) space.d_words.reserve(pieces() * width);
  GrainLoss total{0, static_cast<double>(count), 0};
  for (size_t first = 0; first < count; first += rows_at_once) {
    const size_t taken = std::min(rows_at_once, count - first);
    float* logits = decode(first, taken, space);
    for (size_t i = 0; i < taken; ++i) {
      const RowLoss row = cross_entropy(pieces(), truths[first + i], logits + i * stride());
      total.loss += row.loss;
      total.right += row.right ? 1 : 0;
    }
    decode_backward(first, taken, words_learn, space, scratch.products);
  }
  sink.dense(0, bias_, d_bias);

  const std::array<uint32_t, 2> bounds = {0, static_cast<uint32_t>(count)};
  norm_backward_rows(store_, norm_, bounds, width, space.norm, d_hidden, sink);
  activation_backward(shape_.activation, count * width, space.sums.data(), d_hidden, d_hidden);
  const ConstRows d_sums = {d_hidden, width};
  transform_.gradients(bounds, {input, width}, d_sums, scratch.products, sink);
  transform_.backward(count, d_sums, {d_input, width}, Start::zero);
  return total;
}

void MaskedHead::score(std::span<const uint32_t> truths, const float* input, MaskedHeadSpace& space,
                       std::span<RowLoss> out) const {
  const size_t count = truths.size();
  forward(count, input, space);
  for (size_t first = 0; first < count; first += rows_at_once) {
    const size_t taken = std::min(rows_at_once, count - first);
    float* logits = decode(first, taken, space);
    for (size_t i = 0; i < taken; ++i)
      out[first + i] = cross_entropy(pieces(), truths[first + i], logits + i * stride());
  }
}

void MaskedHead::probabilities(size_t count, const float* input, MaskedHeadSpace& space, float* out) const {
  forward(count, input, space);
  for (size_t i = 0; i < count; ++i) softmax_forward(1, pieces(), decode(i, 1, space), out + i * pieces());
}

std::vector<size_t> MaskedHead::gradient_order() const {
  return {bias_, norm_.weight, norm_.bias, transform_.weight(), transform_.bias()};
}

uint64_t MaskedHead::space_floats(uint64_t masked_rows) const {
  return std::min<uint64_t>(masked_rows, rows_at_once) * stride() + pieces() * (shape_.width + 1) +
         masked_rows * 6 * shape_.width;
}

}  // namespace paceline
