#include <cstring>

#include "engine/model/lstm.h"

namespace paceline {

void LstmModel::embed(LstmWorkspace& w, DropoutsOfGrains dropouts) const {
  if (!dropouts[0].word.active() && !dropouts[0].embedding.active()) return;  // rows are read from the table
  const float* table = store_[embedding_number_].values;
  float* embedded = w.embedded.reserve(w.packed.tokens() * embedding_);
  for (size_t grain = 0; grain < w.packed.grain_count(); ++grain)
    for (uint32_t row : w.packed.rows_of[grain]) {
      const Dropouts& own = dropouts[grain];
      const float* from = table + w.packed.ids[row] * embedding_;
      float* to = embedded + row * embedding_;
      const uint64_t token = w.packed.numbers[row];
      const float word = own.word.active() ? own.word.factor(token) : 1.f;
      if (own.embedding.active())
        own.embedding.apply(token * embedding_, from, embedding_, to);
      else
        std::memcpy(to, from, embedding_ * sizeof(float));
      if (word != 1.f)
        for (size_t u = 0; u < embedding_; ++u) to[u] *= word;
    }
}

// A layer's output, or the gradient of it, after the layer's dropout.
void LstmModel::drop_rows(const PackedGrains& packed, size_t layer, DropoutsOfGrains dropouts,
                          const float* from, float* to) const {
  for (size_t grain = 0; grain < packed.grain_count(); ++grain)
    for (uint32_t row : packed.rows_of[grain])
      dropouts[grain].layer[layer].apply(uint64_t{packed.numbers[row]} * width_, from + row * width_, width_,
                                         to + row * width_);
}

// Likewise what was pooled.
void LstmModel::drop_pooled(const PackedGrains& packed, DropoutsOfGrains dropouts, float* pooled) const {
  if (!dropouts[0].output.active()) return;
  for (size_t s = 0; s < packed.sequences(); ++s)
    dropouts[packed.grains[s]].output.apply(uint64_t{packed.samples[s]} * width_, pooled + s * width_, width_,
                                            pooled + s * width_);
}

// Factors for the states of every sequence; empty without dropout. number: of layer and direction.
void LstmModel::recurrent_mask(const PackedGrains& packed, size_t number, DropoutsOfGrains dropouts,
                               std::vector<float>& mask) const {
  mask.clear();
  if (!dropouts[0].recurrent[number].active()) return;
  mask.assign(packed.sequences() * hidden_, 1.f);
  for (size_t s = 0; s < packed.sequences(); ++s)
    dropouts[packed.grains[s]].recurrent[number].apply(uint64_t{packed.samples[s]} * hidden_,
                                                       &mask[s * hidden_], hidden_, &mask[s * hidden_]);
}

// What a direction of a layer reads, row by row of that direction.
ConstRows LstmModel::layer_input(const LstmWorkspace& w, size_t layer, size_t direction) const {
  const uint32_t* reversed = direction == 1 ? w.packed.reversed.data() : nullptr;
  if (layer > 0) return {w.layers[layer - 1].output, width_, reversed};
  if (w.embedded.data() != nullptr && w.layers[0].rows[direction].empty())
    return {w.embedded.data(), embedding_, reversed};
  return {store_[embedding_number_].values, embedding_, w.layers[0].rows[direction].data()};
}

void LstmModel::forward_layer(LstmWorkspace& w, size_t layer, DropoutsOfGrains dropouts) const {
  auto& cache = w.layers[layer];
  const size_t tokens = w.packed.tokens();
  cache.directions.resize(directions_);
  for (size_t direction = 0; direction < directions_; ++direction) {
    auto& mask = cache.masks[direction];
    recurrent_mask(w.packed, layer * 2 + direction, dropouts, mask);
    recurrent_forward(weights_[layer * directions_ + direction], w.packed, layer_input(w, layer, direction),
                      mask.empty() ? nullptr : mask.data(), cache.directions[direction]);
  }
  cache.output = cache.directions[0].state.data();
  if (directions_ == 2) {
    float* joined = cache.joined.reserve(tokens * width_);
    const float *ahead = cache.directions[0].state.data(), *back = cache.directions[1].state.data();
    for (size_t row = 0; row < tokens; ++row) {
      std::memcpy(joined + row * width_, ahead + row * hidden_, hidden_ * sizeof(float));
      std::memcpy(joined + w.packed.reversed[row] * width_ + hidden_, back + row * hidden_,
                  hidden_ * sizeof(float));
    }
    cache.output = joined;
  }
  if (!dropouts[0].layer[layer].active()) return;
  float* dropped = cache.dropped.reserve(tokens * width_);
  drop_rows(w.packed, layer, dropouts, cache.output, dropped);
  cache.output = dropped;
}

void LstmModel::forward(LstmWorkspace& w, DropoutsOfGrains dropouts) const {
  w.layers.resize(layers_);
  embed(w, dropouts);
  const bool from_table = !dropouts[0].word.active() && !dropouts[0].embedding.active();
  for (size_t direction = 0; direction < 2; ++direction) {
    auto& rows = w.layers[0].rows[direction];
    rows.clear();
    if (!from_table || direction >= directions_) continue;
    rows.resize(w.packed.tokens());
    for (size_t row = 0; row < rows.size(); ++row)
      rows[row] = w.packed.ids[direction == 1 ? w.packed.reversed[row] : row];
  }
  for (size_t layer = 0; layer < layers_; ++layer) forward_layer(w, layer, dropouts);

  float* pooled = w.pooled.reserve(w.packed.sequences() * width_);
  pool(pooling_, w.packed, w.layers.back().output, width_, hidden_, store_[attention_number_].values,
       w.pooling, pooled);
  drop_pooled(w.packed, dropouts, pooled);
}

void LstmModel::output_layer(LstmWorkspace& w) const {
  const float *weight = store_[output_weight_].values, *bias = store_[output_bias_].values;
  w.logits.resize(w.packed.sequences() * classes_);
  for (size_t s = 0; s < w.packed.sequences(); ++s)
    for (size_t c = 0; c < classes_; ++c) {
      const float* pooled = w.pooled.data() + s * width_;
      double sum = bias[c];
      for (size_t u = 0; u < width_; ++u) sum += static_cast<double>(weight[c * width_ + u]) * pooled[u];
      w.logits[s * classes_ + c] = static_cast<float>(sum);
    }
}

}  // namespace paceline
