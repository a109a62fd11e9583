#include "engine/model/lstm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace paceline {
namespace {

constexpr size_t logits_tokens = 16384, logits_texts = 64;  // at a time
// The recurrent product reads the whole matrix at every moment, from beyond the second cache: with so many
// rows that costs little.
constexpr uint64_t sequences_at_once = 16;

}  // namespace

LstmModel::LstmModel(const TrainOptions& options, const Task& task)
    : options_(options),
      cell_(options.lstm.cell == "gru" ? Cell::gru : Cell::lstm),
      pooling_(pooling_of(options.lstm.pooling)),
      embedding_(options.lstm.embedding),
      hidden_(options.lstm.hidden),
      layers_(options.lstm.layers),
      directions_(options.lstm.bidirectional ? 2 : 1),
      width_(hidden_ * directions_),
      classes_(task.classes.size()),
      vocabulary_(task.tokenizer.vocabulary_size),
      loss_(options, task) {
  declare_parameters();
  store_.allocate();
  fill_parameters();
  weights_.resize(numbers_.size());
  for (size_t i = 0; i < numbers_.size(); ++i) {
    const auto& n = numbers_[i];
    RecurrentWeights& w = weights_[i];
    w.cell = cell_;
    w.hidden = hidden_;
    w.input = i < directions_ ? embedding_ : width_;
    w.weight_ih = store_[n.weight_ih].values;
    w.weight_hh = store_[n.weight_hh].values;
    w.bias_ih = store_[n.bias_ih].values;
    w.bias_hh = store_[n.bias_hh].values;
  }
  weights_changed();
}

void LstmModel::declare_parameters() {
  embedding_number_ = store_.add_rows("embedding.weight", vocabulary_, embedding_);
  const uint64_t gates = gates_of(cell_) * hidden_;
  for (size_t layer = 0; layer < layers_; ++layer)
    for (size_t direction = 0; direction < directions_; ++direction) {
      const std::string end = fmt::format("_l{}{}", layer, direction == 1 ? "_reverse" : "");
      const uint64_t input = layer == 0 ? embedding_ : width_;
      DirectionParameters n;
      n.weight_ih = store_.add("rnn.weight_ih" + end, {gates, input}, true);
      n.weight_hh = store_.add("rnn.weight_hh" + end, {gates, hidden_}, true);
      n.bias_ih = store_.add("rnn.bias_ih" + end, {gates}, false);
      n.bias_hh = store_.add("rnn.bias_hh" + end, {gates}, false);
      numbers_.push_back(n);
    }
  if (pooling_ == Pooling::attention) attention_number_ = store_.add("attention.weight", {1, width_}, true);
  output_weight_ = store_.add("output.weight", {classes_, width_}, true);
  output_bias_ = store_.add("output.bias", {classes_}, false);
}

void LstmModel::fill_parameters() {
  store_.fill_uniform(embedding_number_, options_.seed, 0.1);
  const double width = 1 / std::sqrt(static_cast<double>(hidden_));
  for (const auto& n : numbers_) {
    store_.fill_uniform(n.weight_ih, options_.seed, width);
    store_.fill_uniform(n.weight_hh, options_.seed, width);
    // A new LSTM keeps what it has seen: its forget gates start open.
    if (cell_ == Cell::lstm) std::fill_n(store_[n.bias_ih].values + hidden_, hidden_, 1.f);
  }
  if (pooling_ == Pooling::attention) store_.fill_uniform(attention_number_, options_.seed, width);
  store_.fill_uniform(output_weight_, options_.seed, 1 / std::sqrt(static_cast<double>(width_)));
}

std::unique_ptr<Workspace> LstmModel::make_workspace() const { return std::make_unique<LstmWorkspace>(); }

uint64_t LstmModel::grain_bytes(uint64_t tokens, uint64_t samples) const {
  const uint64_t gates = gates_of(cell_) * hidden_;
  const bool joined = directions_ > 1 || layers_ > 1;
  uint64_t floats = tokens * 2 * embedding_ + tokens * 2 * width_ + samples * 8 * width_;
  floats += tokens * layers_ * directions_ * (gates + 3 * hidden_ + (joined ? 2 * hidden_ : 0));
  return floats * sizeof(float) + tokens * 40;
}

void LstmModel::touched_rows(const Batch& batch, size_t, std::vector<uint32_t>& ids) const {
  for (const Sample& sample : batch.samples) ids.insert(ids.end(), sample.ids.begin(), sample.ids.end());
}

LstmModel::Dropouts LstmModel::dropouts_of(uint64_t step, uint64_t grain) const {
  const LstmOptions& o = options_.lstm;
  const auto make = [&](double probability, DropoutKind kind, uint64_t layer) {
    return Dropout(probability, options_.seed, step, grain, kind, layer);
  };
  Dropouts all;
  all.word = make(o.word_dropout, DropoutKind::word, 0);
  all.embedding = make(o.embedding_dropout, DropoutKind::embedding, 0);
  all.output = make(o.output_dropout, DropoutKind::output, 0);
  for (size_t layer = 0; layer < layers_; ++layer) {
    for (size_t direction = 0; direction < 2; ++direction)
      all.recurrent.push_back(make(o.recurrent_dropout, DropoutKind::recurrent, layer * 2 + direction));
    all.layer.push_back(make(layer + 1 < layers_ ? o.layer_dropout : 0, DropoutKind::layer, layer));
  }
  return all;
}

void LstmModel::pack(const Batch& batch, uint64_t first, uint64_t count, LstmWorkspace& w) const {
  const auto begin = std::span(batch.grain_begin).subspan(first, count + 1);
  w.texts.clear();
  for (uint64_t i = begin.front(); i < begin.back(); ++i) w.texts.push_back(batch.samples[i].ids);
  w.packed.pack(w.texts, begin, options_.max_length);
}

AtOnce LstmModel::at_once() const { return {.samples = sequences_at_once}; }

std::vector<GrainLoss> LstmModel::compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                 Workspace& workspace, GradientSink& sink) const {
  auto& w = static_cast<LstmWorkspace&>(workspace);
  pack(batch, first, count, w);
  std::vector<Dropouts> dropouts;
  for (uint64_t grain = first; grain < first + count; ++grain)
    dropouts.push_back(dropouts_of(batch.step, grain));
  forward(w, dropouts);
  output_layer(w);
  std::vector<GrainLoss> losses = loss_and_output_gradient(batch, first, w);
  backward(w, dropouts, sink);
  return losses;
}

void LstmModel::logits(std::span<const Text> texts, std::span<float> out) const {
  std::unique_ptr<LstmWorkspace> w;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      w = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!w) w = std::make_unique<LstmWorkspace>();
  Dropouts none;
  none.recurrent.resize(layers_ * 2);
  none.layer.resize(layers_);
  const uint64_t most_tokens = std::min<uint64_t>(logits_tokens, options_.grain_tokens);
  for (size_t first = 0; first < texts.size();) {
    size_t end = first, tokens = 0;
    while (end < texts.size() && end - first < logits_texts &&
           (end == first || tokens + texts[end].size() <= most_tokens))
      tokens += texts[end++].size();
    w->packed.pack(texts.subspan(first, end - first), options_.max_length);
    forward(*w, {&none, 1});
    output_layer(*w);
    for (size_t s = 0; s < end - first; ++s)
      std::copy_n(w->logits.data() + s * classes_, classes_,
                  out.data() + (first + w->packed.samples[s]) * classes_);
    first = end;
  }
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(w));
}

}  // namespace paceline
