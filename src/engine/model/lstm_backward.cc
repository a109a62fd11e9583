#include <algorithm>
#include <cstring>

#include "engine/model/lstm.h"

namespace paceline {

// Loss, gradients of the output layer (d_weight, d_bias) and of what it reads (d_pooled).
double LstmModel::loss_and_output_gradient(std::span<const Sample> samples, LstmWorkspace& w,
                                           double& weight) const {
  const float* matrix = store_[output_weight_].values;
  const size_t sequences = w.grain.sequences();
  std::vector<double> losses(sequences), weights(sequences, 0);
  w.d_weight.assign(classes_ * width_, 0.f);
  w.d_bias.assign(classes_, 0.f);
  float* d_pooled = w.d_pooled.reserve(sequences * width_);
  std::memset(d_pooled, 0, sequences * width_ * sizeof(float));
  for (size_t s = 0; s < sequences; ++s) {
    const std::span<float> logits(w.logits.data() + s * classes_, classes_);
    const uint32_t sample = w.grain.samples[s];
    losses[sample] = loss_.gradient(samples[sample], logits, weights[sample]);
    const float* pooled = w.pooled.data() + s * width_;
    for (size_t c = 0; c < classes_; ++c) {
      w.d_bias[c] += logits[c];
      for (size_t u = 0; u < width_; ++u) {
        w.d_weight[c * width_ + u] += logits[c] * pooled[u];
        d_pooled[s * width_ + u] += logits[c] * matrix[c * width_ + u];
      }
    }
  }
  double loss = 0;
  for (size_t s = 0; s < sequences; ++s) {
    loss += losses[s];
    weight += weights[s];
  }
  return loss;
}

// From the gradient of a layer's output (w.d_output) to that of its input (w.d_next) and its weights.
void LstmModel::backward_layer(LstmWorkspace& w, size_t layer, const Dropouts& dropouts,
                               GradientSink& sink) const {
  auto& cache = w.layers[layer];
  const size_t tokens = w.grain.tokens(), input = layer == 0 ? embedding_ : width_;
  float *d_output = w.d_output.data(), *d_input = w.d_next.reserve(tokens * input);
  if (dropouts.layer[layer].active())
    for (size_t row = 0; row < tokens; ++row)
      dropouts.layer[layer].apply(static_cast<uint64_t>(w.grain.numbers[row]) * width_,
                                  d_output + row * width_, width_, d_output + row * width_);
  const auto mask_of = [&](size_t direction) {
    return cache.masks[direction].empty() ? nullptr : cache.masks[direction].data();
  };
  for (size_t direction = 0; direction < directions_; ++direction) {
    const uint32_t* rows = direction == 1 ? w.grain.reversed.data() : nullptr;
    recurrent_backward(weights_[layer * directions_ + direction], w.grain, mask_of(direction),
                       {d_output + direction * hidden_, width_, rows}, {d_input, input, rows},
                       direction == 0 ? Start::zero : Start::add, cache.directions[direction]);
  }
  // The embedding's gradient is the largest: its exchange hides behind the gradients of the weights.
  if (layer == 0) embedding_gradient(w, dropouts, sink);
  for (size_t direction = 0; direction < directions_; ++direction) {
    const size_t number = layer * directions_ + direction;
    recurrent_weight_gradients(weights_[number], w.grain, layer_input(w, layer, direction),
                               mask_of(direction), cache.directions[direction], w.gradients);
    sink.dense(numbers_[number].weight_ih, w.gradients.weight_ih.data());
    sink.dense(numbers_[number].weight_hh, w.gradients.weight_hh.data());
    sink.dense(numbers_[number].bias_ih, w.gradients.bias_ih.data());
    sink.dense(numbers_[number].bias_hh, w.gradients.bias_hh.data());
  }
}

// Adds the gradients of every occurrence of a word, in the order of the rows.
void LstmModel::embedding_gradient(LstmWorkspace& w, const Dropouts& dropouts, GradientSink& sink) const {
  const size_t tokens = w.grain.tokens();
  float* d_embedded = w.d_next.data();
  for (size_t row = 0; row < tokens && (dropouts.word.active() || dropouts.embedding.active()); ++row) {
    float* d = d_embedded + row * embedding_;
    const uint64_t token = w.grain.numbers[row];
    if (dropouts.embedding.active()) dropouts.embedding.apply(token * embedding_, d, embedding_, d);
    if (!dropouts.word.active()) continue;
    const float word = dropouts.word.factor(token);
    for (size_t u = 0; u < embedding_; ++u) d[u] *= word;
  }
  w.order.resize(tokens);
  for (size_t row = 0; row < tokens; ++row) w.order[row] = (uint64_t{w.grain.ids[row]} << 32) | row;
  std::sort(w.order.begin(), w.order.end());
  w.ids.clear();
  float* sums = w.row_gradients.reserve(tokens * embedding_);
  for (uint64_t key : w.order) {
    const auto id = static_cast<uint32_t>(key >> 32);
    const float* d = d_embedded + (key & 0xFFFFFFFFu) * embedding_;
    if (w.ids.empty() || w.ids.back() != id) {
      std::memcpy(sums + w.ids.size() * embedding_, d, embedding_ * sizeof(float));
      w.ids.push_back(id);
    } else {
      add_floats(d, embedding_, sums + (w.ids.size() - 1) * embedding_);
    }
  }
  sink.rows(embedding_number_, w.ids, sums);
}

void LstmModel::backward(LstmWorkspace& w, const Dropouts& dropouts, GradientSink& sink) const {
  sink.dense(output_weight_, w.d_weight.data());
  sink.dense(output_bias_, w.d_bias.data());
  float* d_pooled = w.d_pooled.data();
  if (dropouts.output.active())
    for (size_t s = 0; s < w.grain.sequences(); ++s)
      dropouts.output.apply(static_cast<uint64_t>(w.grain.samples[s]) * width_, d_pooled + s * width_, width_,
                            d_pooled + s * width_);
  w.d_query.assign(width_, 0.f);
  pool_backward(pooling_, w.grain, w.layers.back().output, width_, hidden_, store_[attention_number_].values,
                w.pooling, d_pooled, w.d_output.reserve(w.grain.tokens() * width_), w.d_query.data());
  if (pooling_ == Pooling::attention) sink.dense(attention_number_, w.d_query.data());
  for (size_t layer = layers_; layer-- > 0;) {
    backward_layer(w, layer, dropouts, sink);
    if (layer > 0) std::swap(w.d_output, w.d_next);
  }
}

std::vector<size_t> LstmModel::gradient_order() const {
  std::vector<size_t> order = {output_weight_, output_bias_};
  if (pooling_ == Pooling::attention) order.push_back(attention_number_);
  for (size_t layer = layers_; layer-- > 0;) {
    if (layer == 0) order.push_back(embedding_number_);
    for (size_t direction = 0; direction < directions_; ++direction) {
      const auto& n = numbers_[layer * directions_ + direction];
      order.insert(order.end(), {n.weight_ih, n.weight_hh, n.bias_ih, n.bias_hh});
    }
  }
  return order;
}

}  // namespace paceline
