#include "engine/model/encoder_layer.h"

#include <cstring>

namespace paceline {

void TextRows::clear() {
  begin = grains = bounds = {0};
  places.clear();
}

void TextRows::add_text(size_t tokens) {
  for (size_t i = 0; i < tokens; ++i)
    places.push_back(
        {static_cast<uint32_t>(grains.size() - 1), static_cast<uint32_t>(rows() + i - bounds.back())});
  begin.push_back(static_cast<uint32_t>(rows() + tokens));
}

void TextRows::end_grain() {
  grains.push_back(static_cast<uint32_t>(texts()));
  bounds.push_back(static_cast<uint32_t>(rows()));
}

void AskingRows::clear() {
  begin = bounds = {0};
  rows.clear();
  places.clear();
}

void AskingRows::add_text(const TextRows& texts, std::span<const uint32_t> tokens) {
  const uint32_t first = texts.begin[texts.texts() - 1];
  for (uint32_t token : tokens) {
    rows.push_back(first + token);
    places.push_back(texts.places[first + token]);
  }
  begin.push_back(static_cast<uint32_t>(rows.size()));
}

void AskingRows::end_grain() { bounds.push_back(static_cast<uint32_t>(rows.size())); }

EncoderLayer::EncoderLayer(ParameterStore& store, const std::string& prefix, const Shape& shape)
    : store_(store), shape_(shape) {
  const uint64_t width = shape.width;
  query_ = add_linear(store, prefix + "attention.self.query", width, width);
  key_ = add_linear(store, prefix + "attention.self.key", width, width);
  value_ = add_linear(store, prefix + "attention.self.value", width, width);
  attention_output_ = add_linear(store, prefix + "attention.output.dense", width, width);
  attention_norm_ = add_norm(store, prefix + "attention.output.LayerNorm", width);
  inner_ = add_linear(store, prefix + "intermediate.dense", shape.inner, width);
  output_ = add_linear(store, prefix + "output.dense", width, shape.inner);
  output_norm_ = add_norm(store, prefix + "output.LayerNorm", width);
}

Linear& EncoderLayer::linear(size_t product) {
  Linear* const all[products] = {&query_, &key_, &value_, &attention_output_, &inner_, &output_};
  return *all[product];
}

void EncoderLayer::fill(ParameterStore& store, uint64_t seed, double deviation) const {
  for (const Linear* linear : {&query_, &key_, &value_, &attention_output_, &inner_, &output_})
    store.fill_normal(linear->weight(), seed, deviation);
  for (const Norm& norm : {attention_norm_, output_norm_}) store.fill(norm.weight, 1);
}

namespace {

// The rows that ask, whether that is all of them or not.
struct Asking {
  const std::vector<uint32_t>& begin;
  const std::vector<uint32_t>& bounds;
  std::span<const RowPlace> places;
  const uint32_t* rows;  // nullptr: all
  size_t count() const { return begin.back(); }
};

Asking who_asks(const TextRows& texts, const AskingRows* asking) {
  if (asking == nullptr) return {texts.begin, texts.bounds, texts.places, nullptr};
  return {asking->begin, asking->bounds, asking->places, asking->rows.data()};
}

const Dropout no_dropout;

// Calls body with every text, its first row and its first row that asks, its probabilities in place.
template <class Body>
void each_text(const TextRows& texts, const Asking& asking, const EncoderLayer::Shape& shape,
               std::span<const Dropout> dropouts, EncoderCache& cache, EncoderScratch& scratch,
               const Body& body) {
  uint64_t probability = 0, draw = 0;
  for (size_t i = 0; i < texts.texts(); ++i) {
    const size_t row = texts.begin[i], first = asking.begin[i], count = asking.begin[i + 1] - first;
    const size_t tokens = texts.tokens(i);
    scratch.tokens.clear();
    for (size_t a = 0; a < count && asking.rows != nullptr; ++a)
      scratch.tokens.push_back(asking.rows[first + a] - texts.begin[i]);
    const RowPlace& place = texts.places[row];
    if (place.number == 0) draw = 0;  // a grain begins
    const AttentionText text = {count,
                                tokens,
                                shape.heads,
                                shape.width,
                                asking.rows != nullptr ? scratch.tokens.data() : nullptr,
                                cache.queries.data() + first * shape.width,
                                cache.keys_values.data() + row * 2 * shape.width,
                                cache.probabilities.data() + probability,
                                dropouts.empty() ? &no_dropout : &dropouts[place.grain],
                                draw};
    body(text, row, first);
    probability += shape.heads * count * tokens;
    draw += shape.heads * tokens * tokens;
  }
}

uint64_t probabilities_of(const TextRows& texts, const Asking& asking, uint64_t heads) {
  uint64_t count = 0;
  for (size_t i = 0; i < texts.texts(); ++i)
    count += heads * texts.tokens(i) * (asking.begin[i + 1] - asking.begin[i]);
  return count;
}

}  // namespace

void EncoderLayer::forward(const TextRows& texts, const AskingRows* asking_rows, const float* input,
                           const EncoderDropouts& dropouts, EncoderCache& cache, AlignedFloats& output,
                           EncoderScratch& scratch) const {
  const Asking asking = who_asks(texts, asking_rows);
  const size_t rows = texts.rows(), asked = asking.count(), width = shape_.width, inner = shape_.inner;
  const ConstRows input_asking = {input, width, asking.rows};
  float *queries = cache.queries.reserve(asked * width), *keys = cache.keys_values.reserve(rows * 2 * width);
  query_.forward(asked, input_asking, {queries, width});
  key_.forward(rows, {input, width}, {keys, 2 * width});
  value_.forward(rows, {input, width}, {keys + width, 2 * width});
  cache.probabilities.reserve(probabilities_of(texts, asking, shape_.heads));
  float* context = cache.context.reserve(asked * width);
  each_text(texts, asking, shape_, dropouts.probabilities, cache, scratch,
            [&](const AttentionText& text, size_t, size_t first) {
              attention_forward(text, context + first * width, scratch.attention);
            });
  float* dense = scratch.dense.reserve(asked * width);
  attention_output_.forward(asked, {context, width}, {dense, width});
  float* attended = cache.attended.reserve(asked * width);
  drop_add_norm(store_, attention_norm_, shape_.epsilon, asked, width, {dropouts.attention, asking.places},
                dense, input_asking, cache.attention_norm, attended);
  float *sums = cache.inner.reserve(asked * inner), *activated = cache.activated.reserve(asked * inner);
  inner_.forward(asked, {attended, width}, {sums, inner});
  activation_forward(shape_.activation, asked * inner, sums, activated);
  output_.forward(asked, {activated, inner}, {dense, width});
  drop_add_norm(store_, output_norm_, shape_.epsilon, asked, width, {dropouts.feed_forward, asking.places},
                dense, {attended, width}, cache.output_norm, output.reserve(asked * width));
}

void EncoderLayer::backward(const TextRows& texts, const AskingRows* asking_rows, const float* input,
                            const EncoderDropouts& dropouts, EncoderCache& cache, AlignedFloats& d_output,
                            EncoderScratch& scratch, const PartSink& sink) const {
  const Asking asking = who_asks(texts, asking_rows);
  const size_t rows = texts.rows(), asked = asking.count(), width = shape_.width, inner = shape_.inner;
  float *d = d_output.data(), *d_dense = scratch.dense.reserve(asked * width),
        *d_inner = scratch.d_inner.reserve(asked * inner);

  norm_backward_rows(store_, output_norm_, asking.bounds, width, cache.output_norm, d, sink);
  RowDropout{dropouts.feed_forward, asking.places}.apply(asked, width, d, d_dense);
  output_.gradients(asking.bounds, {cache.activated.data(), inner}, {d_dense, width}, scratch.products, sink);
  output_.backward(asked, {d_dense, width}, {d_inner, inner}, Start::zero);
  activation_backward(shape_.activation, asked * inner, cache.inner.data(), d_inner, d_inner);
  inner_.gradients(asking.bounds, {cache.attended.data(), width}, {d_inner, inner}, scratch.products, sink);
  inner_.backward(asked, {d_inner, inner}, {d, width}, Start::add);  // d: the residual's part

  norm_backward_rows(store_, attention_norm_, asking.bounds, width, cache.attention_norm, d, sink);
  RowDropout{dropouts.attention, asking.places}.apply(asked, width, d, d_dense);
  attention_output_.gradients(asking.bounds, {cache.context.data(), width}, {d_dense, width},
                              scratch.products, sink);
  float *d_context = scratch.d_context.reserve(asked * width),
        *d_queries = scratch.d_queries.reserve(asked * width),
        *d_keys = scratch.d_keys_values.reserve(rows * 2 * width);
  attention_output_.backward(asked, {d_dense, width}, {d_context, width}, Start::zero);
  each_text(texts, asking, shape_, dropouts.probabilities, cache, scratch,
            [&](const AttentionText& text, size_t row, size_t first) {
              attention_backward(text, d_context + first * width, d_queries + first * width,
                                 d_keys + row * 2 * width, scratch.attention);
            });
  if (asking.rows != nullptr) {  // the other rows have no residual's part
    float* all = scratch.d_input.reserve(rows * width);
    std::memset(all, 0, rows * width * sizeof(float));
    for (size_t i = 0; i < asked; ++i)
      std::memcpy(all + asking.rows[i] * width, d + i * width, width * sizeof(float));
    std::swap(scratch.d_input, d_output);
    d = all;
  }
  query_.gradients(asking.bounds, {input, width, asking.rows}, {d_queries, width}, scratch.products, sink);
  query_.backward(asked, {d_queries, width}, {d, width, asking.rows}, Start::add);
  key_.gradients(texts.bounds, {input, width}, {d_keys, 2 * width}, scratch.products, sink);
  key_.backward(rows, {d_keys, 2 * width}, {d, width}, Start::add);
  value_.gradients(texts.bounds, {input, width}, {d_keys + width, 2 * width}, scratch.products, sink);
  value_.backward(rows, {d_keys + width, 2 * width}, {d, width}, Start::add);
}

std::vector<size_t> EncoderLayer::gradient_order() const {
  std::vector<size_t> order = {output_norm_.weight, output_norm_.bias};
  const auto add = [&](const Linear& linear) {
    order.push_back(linear.weight());
    order.push_back(linear.bias());
  };
  add(output_);
  add(inner_);
  order.insert(order.end(), {attention_norm_.weight, attention_norm_.bias});
  add(attention_output_);
  for (const Linear* linear : {&query_, &key_, &value_}) add(*linear);
  return order;
}

uint64_t EncoderLayer::cache_floats(const Shape& shape, uint64_t rows, uint64_t longest) {
  return rows * (7 * shape.width + 2 * shape.inner + shape.heads * longest + 2);
}

}  // namespace paceline
