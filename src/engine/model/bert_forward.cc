#include <cstring>

#include "engine/kernels/gradient_loops.h"
#include "engine/model/bert.h"

namespace paceline {

void BertModel::embed(BertWorkspace& w, std::span<const Dropout> dropouts) const {
  const size_t rows = w.texts.rows();
  float *sums = w.scratch.dense.reserve(rows * width_), *out = w.embedded.reserve(rows * width_);
  for (size_t i = 0; i < rows; ++i) {
    float* row = sums + i * width_;
    std::memcpy(row, store_[words_].values + w.ids[i] * width_, width_ * sizeof(float));
    add_floats(store_[types_].values + w.types[i] * width_, width_, row);
    add_floats(store_[positions_].values + w.positions[i] * width_, width_, row);
  }
  drop_add_norm(store_, embedding_norm_, shape_.epsilon, rows, width_, {}, sums, {}, w.embedding_norm, out);
  RowDropout{dropouts, w.texts.places}.apply(rows, width_, out, out);
}

const float* BertModel::layer_input(const BertWorkspace& w, size_t layer) const {
  return layer == 0 ? w.embedded.data() : w.outputs[layer - 1].data();
}

const AskingRows* BertModel::who_asks(const BertWorkspace& w, size_t layer) const {
  return layer + 1 == layers_.size() ? &w.asking : nullptr;
}

// Where nothing is to be learned, or layers are computed again, one cache serves all of them.
void BertModel::forward(BertWorkspace& w, const Dropouts& dropouts, bool training) const {
  const bool one_cache = !training || options_.bert.recompute;
  w.outputs.resize(layers_.size());
  w.caches.resize(one_cache ? 1 : layers_.size());
  embed(w, dropouts.embedding);
  for (size_t layer = 0; layer < layers_.size(); ++layer)
    layers_[layer].forward(w.texts, who_asks(w, layer), layer_input(w, layer), dropouts.layers[layer],
                           w.caches[one_cache ? 0 : layer], w.outputs[layer], w.scratch);
}

// The first token of each text, through a dense layer and tanh, to the logits.
void BertModel::head_forward(BertWorkspace& w, std::span<const Dropout> dropouts) const {
  const size_t texts = w.texts.texts();
  float *pooled = w.pooled.reserve(texts * width_), *dropped = w.dropped.reserve(texts * width_);
  pooler_.forward(texts, {w.outputs.back().data(), width_}, {pooled, width_});
  tanh_forward(texts * width_, pooled, pooled);
  RowDropout{dropouts, w.text_places}.apply(texts, width_, pooled, dropped);
  classifier_.forward(texts, {dropped, width_}, {w.logits.reserve(texts * classes_), classes_});
}

}  // namespace paceline
