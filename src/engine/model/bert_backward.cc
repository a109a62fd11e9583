#include <algorithm>
#include <cstring>

#include "engine/kernels/gradient_loops.h"
#include "engine/model/bert.h"

namespace paceline {

// Losses of the logits; leaves the gradient of the last layer's output, the texts' first rows, in w.d_output.
std::vector<GrainLoss> BertModel::head_backward(std::span<const Sample> samples, BertWorkspace& w,
                                                std::span<const Dropout> dropouts,
                                                const PartSink& sink) const {
  const size_t texts = w.texts.texts();
  std::vector<GrainLoss> losses(w.texts.grains.size() - 1);
  for (size_t i = 0; i < texts; ++i) {
    GrainLoss& of_grain = losses[w.text_places[i].grain];
    of_grain.loss += loss_.gradient(samples[i], {w.logits.data() + i * classes_, classes_}, of_grain.weight);
  }
  const std::span<const uint32_t> bounds = w.texts.grains;
  const ConstRows d_logits = {w.logits.data(), classes_};
  classifier_.gradients(bounds, {w.dropped.data(), width_}, d_logits, w.scratch.products, sink);

  float* d_pooled = w.d_pooled.reserve(texts * width_);
  classifier_.backward(texts, d_logits, {d_pooled, width_}, Start::zero);
  RowDropout{dropouts, w.text_places}.apply(texts, width_, d_pooled, d_pooled);
  tanh_backward(texts * width_, w.pooled.data(), d_pooled, d_pooled);
  pooler_.gradients(bounds, {w.outputs.back().data(), width_}, {d_pooled, width_}, w.scratch.products, sink);
  pooler_.backward(texts, {d_pooled, width_}, {w.d_output.reserve(texts * width_), width_}, Start::zero);
  return losses;
}

void BertModel::backward(BertWorkspace& w, const Dropouts& dropouts, const PartSink& sink) const {
  for (size_t layer = layers_.size(); layer-- > first_layer_;) {
    EncoderCache& cache = w.caches[options_.bert.recompute ? 0 : layer];
    if (options_.bert.recompute && layer + 1 < layers_.size())
      layers_[layer].forward(w.texts, who_asks(w, layer), layer_input(w, layer), dropouts.layers[layer],
                             cache, w.again, w.scratch);
    layers_[layer].backward(w.texts, who_asks(w, layer), layer_input(w, layer), dropouts.layers[layer], cache,
                            w.d_output, w.scratch, sink);
  }
  if (frozen_ > 0) return;
  float* d = w.d_output.data();
  RowDropout{dropouts.embedding, w.texts.places}.apply(w.texts.rows(), width_, d, d);
  norm_backward_rows(store_, embedding_norm_, w.texts.bounds, width_, w.embedding_norm, d, sink);
  for (size_t grain = 0; grain + 1 < w.texts.bounds.size(); ++grain) embedding_gradients(w, grain, sink);
}

void BertModel::embedding_gradients(BertWorkspace& w, size_t grain, const PartSink& sink) const {
  const size_t begin = w.texts.bounds[grain], end = w.texts.bounds[grain + 1];
  const float* d = w.d_output.data();
  const auto add_by = [&](size_t number, const std::vector<uint32_t>& places) {
    const size_t size = store_[number].size();
    float* sums = w.row_gradients.reserve(size);
    std::memset(sums, 0, size * sizeof(float));
    for (size_t i = begin; i < end; ++i) add_floats(d + i * width_, width_, sums + places[i] * width_);
    sink.dense(grain, number, sums);
  };
  add_by(positions_, w.positions);
  add_by(types_, w.types);

  // Onto the gradient of the last product. As in transformers [PAD] learns nothing from being read, where it
  // is shown in the place of a masked piece.
  if (masked_) {
    float* words = w.masked_space.d_words.data();
    for (size_t i = begin; i < end; ++i)
      if (w.ids[i] != 0) add_floats(d + i * width_, width_, words + w.ids[i] * width_);
    return sink.dense(grain, words_, words);
  }
  // Every occurrence of a word, in the order of the rows.
  w.order.clear();
  for (size_t i = begin; i < end; ++i) w.order.push_back((uint64_t{w.ids[i]} << 32) | i);
  std::sort(w.order.begin(), w.order.end());
  w.distinct.clear();
  float* sums = w.row_gradients.reserve((end - begin) * width_);
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
  sink.rows(grain, words_, w.distinct, sums);
}

}  // namespace paceline
