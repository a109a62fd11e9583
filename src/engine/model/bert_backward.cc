#include <algorithm>
#include <cstring>

#include "engine/kernels/gradient_loops.h"
#include "engine/model/bert.h"

namespace paceline {

// Loss of the logits; leaves the gradient of the last layer's output in w.d_output.
double BertModel::head_backward(std::span<const Sample> samples, BertWorkspace& w, const Dropout& dropout,
                                const GrainSink& sink, double& weight) const {
  const size_t texts = w.texts.texts(), rows = w.texts.rows();
  double loss = 0;
  for (size_t i = 0; i < texts; ++i)
    loss += loss_.gradient(samples[i], {w.logits.data() + i * classes_, classes_}, weight);
  const ConstRows d_logits = {w.logits.data(), classes_};
  float *gradient = w.scratch.gradient.reserve(std::max(classes_, width_) * width_),
        *bias = w.scratch.bias.reserve(std::max(classes_, width_));
  classifier_.gradients(texts, {w.dropped.data(), width_}, d_logits, gradient, bias, w.scratch.products);
  sink.dense(classifier_.weight(), gradient);
  sink.dense(classifier_.bias(), bias);

  float* d_pooled = w.d_pooled.reserve(texts * width_);
  classifier_.backward(texts, d_logits, {d_pooled, width_}, Start::zero);
  drop(dropout, texts * width_, d_pooled, d_pooled);
  tanh_backward(texts * width_, w.pooled.data(), d_pooled, d_pooled);
  pooler_.gradients(texts, {w.outputs.back().data(), width_, w.first_rows.data()}, {d_pooled, width_},
                    gradient, bias, w.scratch.products);
  sink.dense(pooler_.weight(), gradient);
  sink.dense(pooler_.bias(), bias);
  float* d_output = w.d_output.reserve(rows * width_);
  std::memset(d_output, 0, rows * width_ * sizeof(float));
  pooler_.backward(texts, {d_pooled, width_}, {d_output, width_, w.first_rows.data()}, Start::zero);
  return loss;
}

void BertModel::backward(BertWorkspace& w, const Dropouts& dropouts, const GrainSink& sink) const {
  for (size_t layer = layers_.size(); layer-- > first_layer_;) {
    EncoderCache& cache = w.caches[options_.bert.recompute ? 0 : layer];
    if (options_.bert.recompute && layer + 1 < layers_.size())
      layers_[layer].forward(w.texts, layer_input(w, layer), dropouts.layers[layer], cache,
                             w.again.reserve(w.texts.rows() * width_), w.scratch);
    layers_[layer].backward(w.texts, layer_input(w, layer), dropouts.layers[layer], cache, w.d_output.data(),
                            w.scratch, sink);
  }
  if (frozen_ == 0) embedding_gradients(w, dropouts.embedding, sink);
}

void BertModel::embedding_gradients(BertWorkspace& w, const Dropout& dropout, const GrainSink& sink) const {
  const size_t rows = w.texts.rows();
  float* d = w.d_output.data();
  drop(dropout, rows * width_, d, d);
  norm_backward_rows(store_, embedding_norm_, rows, width_, w.embedding_norm, d, sink);
  const auto add_by = [&](size_t number, const std::vector<uint32_t>& places) {
    const size_t size = store_[number].size();
    float* sums = w.row_gradients.reserve(size);
    std::memset(sums, 0, size * sizeof(float));
    for (size_t i = 0; i < rows; ++i) add_floats(d + i * width_, width_, sums + places[i] * width_);
    sink.dense(number, sums);
  };
  add_by(positions_, w.positions);
  add_by(types_, w.types);

  // Onto the gradient of the last product. As in transformers [PAD] learns nothing from being read, where it
  // is shown in the place of a masked piece.
  if (masked_) {
    float* words = w.masked_space.d_words.data();
    for (size_t i = 0; i < rows; ++i)
      if (w.ids[i] != 0) add_floats(d + i * width_, width_, words + w.ids[i] * width_);
    return sink.dense(words_, words);
  }
  // Every occurrence of a word, in the order of the rows.
  w.order.resize(rows);
  for (size_t i = 0; i < rows; ++i) w.order[i] = (uint64_t{w.ids[i]} << 32) | i;
  std::sort(w.order.begin(), w.order.end());
  w.distinct.clear();
  float* sums = w.row_gradients.reserve(rows * width_);
  for (uint64_t key : w.order) {
    const auto id = static_cast<uint32_t>(key >> 32);
    const float* row = d + (key & 0xFFFFFFFFu) * width_;
    if (w.distinct.empty() || w.distinct.back() != id) {
      std::memcpy(sums + w.distinct.size() * width_, row, width_ * sizeof(float));
      w.distinct.push_back(id);
    } else {
      add_floats(row, width_, sums + (w.distinct.size() - 1) * width_);
    }
  }
  sink.rows(words_, w.distinct, sums);
}

}  // namespace paceline
