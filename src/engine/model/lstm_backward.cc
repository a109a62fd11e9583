#include <algorithm>
#include <cstring>

#include "engine/model/lstm.h"

namespace paceline {

// Losses, gradients of the output layer (d_weight, d_bias: of each grain) and of what it reads (d_pooled).
std::vector<GrainLoss> LstmModel::loss_and_output_gradient(const Batch& batch, uint64_t first,
                                                           LstmWorkspace& w) const {
  const float* matrix = store_[output_weight_].values;
  const size_t sequences = w.packed.sequences(), grains = w.packed.grain_count();
  std::vector<GrainLoss> of_sample(sequences);  // in the order of the batch, in which they are added
  w.d_weight.assign(grains * classes_ * width_, 0.f);
  w.d_bias.assign(grains * classes_, 0.f);
  float* d_pooled = w.d_pooled.reserve(sequences * width_);
  std::memset(d_pooled, 0, sequences * width_ * sizeof(float));
  for (size_t s = 0; s < sequences; ++s) {
    const std::span<float> logits(w.logits.data() + s * classes_, classes_);
    const size_t grain = w.packed.grains[s];
    const uint64_t sample = batch.first_sample(first + grain) + w.packed.samples[s];
    GrainLoss& own = of_sample[sample - batch.first_sample(first)];
    own.loss = loss_.gradient(batch.samples[sample], logits, own.weight);
    const float* pooled = w.pooled.data() + s * width_;
    float *d_weight = w.d_weight.data() + grain * classes_ * width_, *d_bias = &w.d_bias[grain * classes_];
    for (size_t c = 0; c < classes_; ++c) {
      d_bias[c] += logits[c];
      for (size_t u = 0; u < width_; ++u) {
        d_weight[c * width_ + u] += logits[c] * pooled[u];
        d_pooled[s * width_ + u] += logits[c] * matrix[c * width_ + u];
      }
    }
  }
  std::vector<GrainLoss> losses(grains);
  auto sample = of_sample.begin();
  for (size_t grain = 0; grain < grains; ++grain)
    for (size_t i = 0; i < batch.grain(first + grain).size(); ++i, ++sample) {
      losses[grain].loss += sample->loss;
      losses[grain].weight += sample->weight;
    }
  return losses;
}

// From the gradient of a layer's output (w.d_output) to that of its input (w.d_next) and its weights.
void LstmModel::backward_layer(LstmWorkspace& w, size_t layer, DropoutsOfGrains dropouts,
                               GradientSink& sink) const {
  auto& cache = w.layers[layer];
  const size_t tokens = w.packed.tokens(), input = layer == 0 ? embedding_ : width_;
  float *d_output = w.d_output.data(), *d_input = w.d_next.reserve(tokens * input);
  if (dropouts[0].layer[layer].active()) drop_rows(w.packed, layer, dropouts, d_output, d_output);
  const auto mask_of = [&](size_t direction) {
    return cache.masks[direction].empty() ? nullptr : cache.masks[direction].data();
  };
  for (size_t direction = 0; direction < directions_; ++direction) {
    const uint32_t* rows = direction == 1 ? w.packed.reversed.data() : nullptr;
    recurrent_backward(weights_[layer * directions_ + direction], w.packed, mask_of(direction),
                       {d_output + direction * hidden_, width_, rows}, {d_input, input, rows},
                       direction == 0 ? Start::zero : Start::add, cache.directions[direction]);
  }
  const size_t grains = w.packed.grain_count();
  if (layer == 0) {
    // The embedding's gradient is the largest: its exchange hides behind the gradients of the weights.
    drop_embedding_gradient(w, dropouts);
    for (size_t grain = 0; grain < grains; ++grain) embedding_gradient(w, grain, sink);
  }
  for (size_t direction = 0; direction < directions_; ++direction)
    for (size_t grain = 0; grain < grains; ++grain) {
      const size_t number = layer * directions_ + direction;
      recurrent_weight_gradients(weights_[number], w.packed, grain, layer_input(w, layer, direction),
                                 mask_of(direction), cache.directions[direction], w.gradients);
      sink.dense(grain, numbers_[number].weight_ih, w.gradients.weight_ih.data());
      sink.dense(grain, numbers_[number].weight_hh, w.gradients.weight_hh.data());
      sink.dense(grain, numbers_[number].bias_ih, w.gradients.bias_ih.data());
      sink.dense(grain, numbers_[number].bias_hh, w.gradients.bias_hh.data());
    }
}

void LstmModel::drop_embedding_gradient(LstmWorkspace& w, DropoutsOfGrains dropouts) const {
  if (!dropouts[0].word.active() && !dropouts[0].embedding.active()) return;
  for (size_t grain = 0; grain < w.packed.grain_count(); ++grain)
    for (uint32_t row : w.packed.rows_of[grain]) {
      const Dropouts& own = dropouts[grain];
      float* d = w.d_next.data() + row * embedding_;
      const uint64_t token = w.packed.numbers[row];
      if (own.embedding.active()) own.embedding.apply(token * embedding_, d, embedding_, d);
      if (!own.word.active()) continue;
      const float word = own.word.factor(token);
      for (size_t u = 0; u < embedding_; ++u) d[u] *= word;
    }
}

// Adds the gradients of every occurrence of a word, in the order of the rows.
void LstmModel::embedding_gradient(LstmWorkspace& w, size_t grain, GradientSink& sink) const {
  w.order.clear();
  for (uint32_t row : w.packed.rows_of[grain]) w.order.push_back((uint64_t{w.packed.ids[row]} << 32) | row);
  std::sort(w.order.begin(), w.order.end());
  w.ids.clear();
  float* sums = w.row_gradients.reserve(w.order.size() * embedding_);
  for (uint64_t key : w.order) {
    const auto id = static_cast<uint32_t>(key >> 32);
    const float* d = w.d_next.data() + (key & 0xFFFFFFFFu) * embedding_;
    if (w.ids.empty() || w.ids.back() != id) {
      std::memcpy(sums + w.ids.size() * embedding_, d, embedding_ * sizeof(float));
      w.ids.push_back(id);
    } else {
      add_floats(d, embedding_, sums + (w.ids.size() - 1) * embedding_);
    }
  }
  sink.rows(grain, embedding_number_, w.ids, sums);
}

void LstmModel::backward(LstmWorkspace& w, DropoutsOfGrains dropouts, GradientSink& sink) const {
  const size_t grains = w.packed.grain_count();
  for (size_t grain = 0; grain < grains; ++grain) {
    sink.dense(grain, output_weight_, w.d_weight.data() + grain * classes_ * width_);
    sink.dense(grain, output_bias_, w.d_bias.data() + grain * classes_);
  }
  drop_pooled(w.packed, dropouts, w.d_pooled.data());
  w.d_query.assign(grains * width_, 0.f);
  pool_backward(pooling_, w.packed, w.layers.back().output, width_, hidden_, store_[attention_number_].values,
                w.pooling, w.d_pooled.data(), w.d_output.reserve(w.packed.tokens() * width_),
                w.d_query.data());
  for (size_t grain = 0; grain < grains && pooling_ == Pooling::attention; ++grain)
    sink.dense(grain, attention_number_, w.d_query.data() + grain * width_);
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
