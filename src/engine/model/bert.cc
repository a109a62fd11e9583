#include "engine/model/bert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace paceline {
namespace {

Activation activation_of(const std::string& name) {
  if (name == "gelu") return Activation::gelu;
  return name == "relu" ? Activation::relu : Activation::gelu_tanh;
}

}  // namespace

BertModel::BertModel(const TrainOptions& options, const Task& task)
    : options_(options),
      width_(options.bert.hidden),
      classes_(task.classes.size()),
      shape_{options.bert.hidden, options.bert.heads, options.bert.intermediate,
             activation_of(options.bert.activation), static_cast<float>(options.bert.norm_epsilon)},
      loss_(options, task),
      kinds_(task.pieces) {
  declare_parameters(task);
  store_.allocate();
  fill_parameters();
  weights_changed();
}

void BertModel::declare_parameters(const Task& task) {
  const BertOptions& o = options_.bert;
  const std::string in = "bert.embeddings.";
  const std::string words = in + "word_embeddings.weight";
  // A head that guesses pieces has every row of the embedding in its last product, whose gradient is dense.
  words_ = task.guesses_pieces() ? store_.add(words, {o.vocabulary, width_}, true)
                                 : store_.add_rows(words, o.vocabulary, width_);
  positions_ = store_.add(in + "position_embeddings.weight", {o.positions, width_}, true);
  types_ = store_.add(in + "token_type_embeddings.weight", {o.types, width_}, true);
  embedding_norm_ = add_norm(store_, in + "LayerNorm", width_);
  layers_.reserve(o.layers);
  for (size_t layer = 0; layer < o.layers; ++layer) {
    if (layer == o.freeze) frozen_ = o.freeze == 0 ? 0 : store_.all().size();
    layers_.emplace_back(store_, fmt::format("bert.encoder.layer.{}.", layer), shape_);
  }
  if (o.freeze == o.layers) frozen_ = store_.all().size();
  first_layer_ = o.freeze;
  if (task.guesses_pieces()) {
    masked_.emplace(store_, words_, shape_);
  } else {
    pooler_ = add_linear(store_, "bert.pooler.dense", width_, width_);
    classifier_ = add_linear(store_, "classifier", classes_, width_);
  }
  if (o.layer_decay == 1) return;
  // The head learns at the full rate, each layer below it at a smaller one, the embeddings at the smallest.
  double rate = 1;
  for (size_t layer = o.layers; layer-- > 0;) {
    rate *= o.layer_decay;
    for (size_t number : layers_[layer].gradient_order()) store_.set_rate(number, rate);
  }
  for (size_t number = 0; number <= embedding_norm_.bias; ++number)
    store_.set_rate(number, rate * o.layer_decay);
}

void BertModel::fill_parameters() {
  const double deviation = options_.bert.deviation;
  for (size_t number : {words_, positions_, types_}) store_.fill_normal(number, options_.seed, deviation);
  std::fill_n(store_[words_].values, width_, 0.f);  // of [PAD]
  store_.fill(embedding_norm_.weight, 1);
  for (const auto& layer : layers_) layer.fill(store_, options_.seed, deviation);
  if (masked_) return masked_->fill(store_, options_.seed, deviation);
  for (const Linear* linear : {&pooler_, &classifier_})
    store_.fill_normal(linear->weight(), options_.seed, deviation);
}

size_t BertModel::parts_to_prepare() const {
  return layers_.size() * EncoderLayer::products + (masked_ ? masked_->parts() : 2);
}

void BertModel::prepare(size_t part) {
  const size_t of_layers = layers_.size() * EncoderLayer::products;
  if (part < of_layers)
    layers_[part / EncoderLayer::products].pack(part % EncoderLayer::products);
  else if (masked_)
    masked_->pack(part - of_layers);
  else
    (part == of_layers ? pooler_ : classifier_).pack();
}

std::unique_ptr<Workspace> BertModel::make_workspace() const { return std::make_unique<BertWorkspace>(); }

uint64_t BertModel::grain_bytes(uint64_t tokens, uint64_t samples) const {
  const uint64_t longest = std::min<uint64_t>(tokens, options_.bert.positions);
  const uint64_t layers = options_.bert.recompute ? 1 : layers_.size();
  uint64_t floats = layers * EncoderLayer::cache_floats(shape_, tokens, longest);
  floats += tokens * width_ * (layers_.size() + 9) + tokens * shape_.inner + 2 * longest * longest;
  floats += tokens * ProductScratch::floats_for_a_row + std::max(options_.bert.positions, tokens) * width_;
  if (masked_) floats += masked_->space_floats(tokens * 15 / 100 + samples);
  return (floats + samples * 8 * width_) * sizeof(float) + tokens * 40;
}

void BertModel::touched_rows(const Batch& batch, size_t, std::vector<uint32_t>& ids) const {
  for (const Sample& sample : batch.samples) ids.insert(ids.end(), sample.ids.begin(), sample.ids.end());
  if (options_.bert.piece_dropout > 0) ids.push_back(kinds_->mask());
}

BertModel::Dropouts BertModel::no_dropouts() const {
  Dropouts none;
  none.layers.resize(layers_.size());
  return none;
}

BertModel::Dropouts BertModel::dropouts_of(uint64_t step, uint64_t first, uint64_t count) const {
  const BertOptions& o = options_.bert;
  const auto make = [&](double probability, DropoutKind kind, uint64_t layer) {
    std::vector<Dropout> of_grains;
    for (uint64_t grain = first; grain < first + count; ++grain)
      of_grains.emplace_back(probability, options_.seed, step, grain, kind, layer);
    return of_grains;
  };
  Dropouts all = no_dropouts();
  all.embedding = make(o.hidden_dropout, DropoutKind::embedding, 0);
  all.pooled = make(o.classifier_dropout, DropoutKind::output, 0);
  for (size_t layer = 0; layer < layers_.size(); ++layer)
    all.layers[layer] = {make(o.attention_dropout, DropoutKind::probabilities, layer),
                         make(o.hidden_dropout, DropoutKind::attention, layer),
                         make(o.hidden_dropout, DropoutKind::feed_forward, layer)};
  return all;
}

void BertModel::clear(BertWorkspace& w) const {
  w.texts.clear();
  w.text_places.clear();
  w.ids.clear();
  w.positions.clear();
  w.types.clear();
  w.asking.clear();
  w.truths.clear();
}

void BertModel::end_grain(BertWorkspace& w) const {
  for (uint32_t number = 0; w.text_places.size() < w.texts.texts(); ++number)
    w.text_places.push_back({static_cast<uint32_t>(w.texts.grains.size() - 1), number});
  w.texts.end_grain();
  w.asking.end_grain();
}

void BertModel::add_text(const Text& text, std::span<const uint32_t> asking, BertWorkspace& w) const {
  add_tokens(text, w);
  w.asking.add_text(w.texts, asking);
}

void BertModel::add_tokens(const Text& text, BertWorkspace& w) const {
  PACELINE_ASSERT(!text.empty());
  const uint32_t second = options_.bert.types > 1 ? text.second_begin : 0;
  const auto tokens = static_cast<uint32_t>(std::min<size_t>(text.size(), options_.bert.positions));
  for (uint32_t i = 0; i < tokens; ++i) {
    w.ids.push_back(text[i]);
    w.positions.push_back(i);
    w.types.push_back(second > 0 && i >= second ? 1 : 0);
  }
  w.texts.add_text(tokens);
}

void BertModel::add_labelled_texts(const Batch& batch, uint64_t grain, BertWorkspace& w) const {
  const std::span<const Sample> samples = batch.grain(grain);
  for (uint64_t i = 0; i < samples.size(); ++i) {
    const size_t begin = w.ids.size();
    add_text({samples[i].ids, samples[i].second_begin}, first_token, w);
    if (options_.bert.piece_dropout > 0)
      hide_pieces(*kinds_, options_.bert.piece_dropout, masking_key(batch, grain, i),
                  std::span(w.ids).subspan(begin));
  }
}

uint64_t BertModel::masking_key(const Batch& batch, uint64_t grain, uint64_t text) const {
  return stream_key({options_.seed, batch.step, grain, static_cast<uint64_t>(DropoutKind::masking), text});
}

void BertModel::add_masked_text(const Text& text, uint64_t key, bool whole_words, BertWorkspace& w) const {
  const uint32_t begin = w.texts.begin.back();
  add_tokens(text, w);
  choose_masked(*kinds_, whole_words, std::span(w.ids).subspan(begin), key, w.hidden);
  w.hidden_tokens.clear();
  for (const MaskedPlace& place : w.hidden) {
    w.ids[begin + place.position] = place.shown;
    w.hidden_tokens.push_back(place.position);
    w.truths.push_back(place.truth);
  }
  w.asking.add_text(w.texts, w.hidden_tokens);
}

std::vector<GrainLoss> BertModel::compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                 Workspace& workspace, GradientSink& sink) const {
  auto& w = static_cast<BertWorkspace&>(workspace);
  if (!masked_) return compute_together(batch, first, count, w, PartSink(sink, 0, frozen_));
  std::vector<GrainLoss> losses;
  for (uint64_t i = 0; i < count; ++i)
    losses.push_back(compute_masked_grain(batch, first + i, w, PartSink(sink, i, frozen_)));
  return losses;
}

std::vector<GrainLoss> BertModel::compute_together(const Batch& batch, uint64_t first, uint64_t count,
                                                   BertWorkspace& w, const PartSink& sink) const {
  clear(w);
  for (uint64_t grain = first; grain < first + count; ++grain) {
    add_labelled_texts(batch, grain, w);
    end_grain(w);
  }
  const Dropouts dropouts = dropouts_of(batch.step, first, count);
  forward(w, dropouts, true);
  head_forward(w, dropouts.pooled);
  const auto samples = std::span(batch.samples).subspan(batch.first_sample(first), w.texts.texts());
  std::vector<GrainLoss> losses = head_backward(samples, w, dropouts.pooled, sink);
  backward(w, dropouts, sink);
  return losses;
}

GrainLoss BertModel::compute_masked_grain(const Batch& batch, uint64_t grain, BertWorkspace& w,
                                          const PartSink& sink) const {
  const std::span<const Sample> samples = batch.grain(grain);
  clear(w);
  for (uint64_t i = 0; i < samples.size(); ++i)
    add_masked_text({samples[i].ids, samples[i].second_begin}, masking_key(batch, grain, i),
                    options_.bert.whole_words, w);
  end_grain(w);
  const Dropouts dropouts = dropouts_of(batch.step, grain, 1);
  forward(w, dropouts, true);
  const GrainLoss result =
      masked_->train(w.truths, w.outputs.back().data(), w.d_output.reserve(w.truths.size() * width_),
                     frozen_ == 0, w.masked_space, w.scratch, sink);
  backward(w, dropouts, sink);
  return result;
}

std::vector<size_t> BertModel::gradient_order() const {
  std::vector<size_t> order = {classifier_.weight(), classifier_.bias(), pooler_.weight(), pooler_.bias()};
  if (masked_) order = masked_->gradient_order();
  for (size_t layer = layers_.size(); layer-- > first_layer_;)
    for (size_t number : layers_[layer].gradient_order()) order.push_back(number);
  if (frozen_ == 0)
    order.insert(order.end(), {embedding_norm_.weight, embedding_norm_.bias, positions_, types_, words_});
  for (size_t& number : order) number -= frozen_;
  return order;
}

}  // namespace paceline
