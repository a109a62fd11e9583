#include <cstring>

#include "engine/model/lstm.h"

namespace paceline {

void LstmModel::embed(LstmWorkspace& w, const Dropouts& dropouts) const {
  if (!dropouts.word.active() && !dropouts.embedding.active()) return;  // rows are read from the table
  const float* table = store_[embedding_number_].values;
  float* to = w.embedded.reserve(w.grain.tokens() * embedding_);
  for (size_t row = 0; row < w.grain.tokens(); ++row, to += embedding_) {
    const float* from = table + w.grain.ids[row] * embedding_;
    const uint64_t token = w.grain.numbers[row];
    const float word = dropouts.word.active() ? dropouts.word.factor(token) : 1.f;
    if (dropouts.embedding.active())
      dropouts.embedding.apply(token * embedding_, from, embedding_, to);
    else
      std::memcpy(to, from, embedding_ * sizeof(float));
    if (word != 1.f)
      for (size_t u = 0; u < embedding_; ++u) to[u] *= word;
  }
}

// What a direction of a layer reads, row by row of that direction.
ConstRows LstmModel::layer_input(const LstmWorkspace& w, size_t layer, size_t direction) const {
  const uint32_t* reversed = direction == 1 ? w.grain.reversed.data() : nullptr;
  if (layer > 0) return {w.layers[layer - 1].output, width_, reversed};
  if (w.embedded.data() != nullptr && w.layers[0].rows[direction].empty())
    return {w.embedded.data(), embedding_, reversed};
  return {store_[embedding_number_].values, embedding_, w.layers[0].rows[direction].data()};
}

void LstmModel::forward_layer(LstmWorkspace& w, size_t layer, const Dropouts& dropouts) const {
  auto& cache = w.layers[layer];
  const size_t tokens = w.grain.tokens();
  cache.directions.resize(directions_);
  for (size_t direction = 0; direction < directions_; ++direction) {
    const Dropout& dropout = dropouts.recurrent[layer * 2 + direction];
    auto& mask = cache.masks[direction];
    mask.clear();
    if (dropout.active()) {
      mask.assign(w.grain.sequences() * hidden_, 1.f);
      for (size_t s = 0; s < w.grain.sequences(); ++s)
        dropout.apply(w.grain.samples[s] * hidden_, &mask[s * hidden_], hidden_, &mask[s * hidden_]);
    }
    recurrent_forward(weights_[layer * directions_ + direction], w.grain, layer_input(w, layer, direction),
                      mask.empty() ? nullptr : mask.data(), cache.directions[direction]);
  }
  cache.output = cache.directions[0].state.data();
  if (directions_ == 2) {
    float* joined = cache.joined.reserve(tokens * width_);
    const float *ahead = cache.directions[0].state.data(), *back = cache.directions[1].state.data();
    for (size_t row = 0; row < tokens; ++row) {
      std::memcpy(joined + row * width_, ahead + row * hidden_, hidden_ * sizeof(float));
      std::memcpy(joined + w.grain.reversed[row] * width_ + hidden_, back + row * hidden_,
                  hidden_ * sizeof(float));
    }
    cache.output = joined;
  }
  if (!dropouts.layer[layer].active()) return;
  float* dropped = cache.dropped.reserve(tokens * width_);
  for (size_t row = 0; row < tokens; ++row)
    dropouts.layer[layer].apply(static_cast<uint64_t>(w.grain.numbers[row]) * width_,
                                cache.output + row * width_, width_, dropped + row * width_);
  cache.output = dropped;
}

void LstmModel::forward(LstmWorkspace& w, const Dropouts& dropouts) const {
  w.layers.resize(layers_);
  embed(w, dropouts);
  const bool from_table = !dropouts.word.active() && !dropouts.embedding.active();
  for (size_t direction = 0; direction < 2; ++direction) {
    auto& rows = w.layers[0].rows[direction];
    rows.clear();
    if (!from_table || direction >= directions_) continue;
    rows.resize(w.grain.tokens());
    for (size_t row = 0; row < rows.size(); ++row)
      rows[row] = w.grain.ids[direction == 1 ? w.grain.reversed[row] : row];
  }
  for (size_t layer = 0; layer < layers_; ++layer) forward_layer(w, layer, dropouts);

  float* pooled = w.pooled.reserve(w.grain.sequences() * width_);
  pool(pooling_, w.grain, w.layers.back().output, width_, hidden_, store_[attention_number_].values,
       w.pooling, pooled);
  if (dropouts.output.active())
    for (size_t s = 0; s < w.grain.sequences(); ++s)
      dropouts.output.apply(static_cast<uint64_t>(w.grain.samples[s]) * width_, pooled + s * width_, width_,
                            pooled + s * width_);
}

void LstmModel::output_layer(LstmWorkspace& w) const {
  const float *weight = store_[output_weight_].values, *bias = store_[output_bias_].values;
  w.logits.resize(w.grain.sequences() * classes_);
  for (size_t s = 0; s < w.grain.sequences(); ++s)
    for (size_t c = 0; c < classes_; ++c) {
      const float* pooled = w.pooled.data() + s * width_;
      double sum = bias[c];
      for (size_t u = 0; u < width_; ++u) sum += static_cast<double>(weight[c * width_ + u]) * pooled[u];
      w.logits[s * classes_ + c] = static_cast<float>(sum);
    }
}

}  // namespace paceline
