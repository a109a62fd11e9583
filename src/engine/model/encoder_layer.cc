#include "engine/model/encoder_layer.h"

namespace paceline {
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

// Calls body with every text, its first row and its probabilities in place.
template <class Body>
void each_text(const TextRows& texts, const EncoderLayer::Shape& shape, const Dropout& dropout,
               EncoderCache& cache, const Body& body) {
  uint64_t first = 0;
  for (size_t i = 0; i < texts.texts(); ++i) {
    const size_t row = texts.begin[i];
    const AttentionText text = {texts.tokens(i),
                                shape.heads,
                                shape.width,
                                cache.qkv.data() + row * 3 * shape.width,
                                cache.probabilities.data() + first,
                                &dropout,
                                first};
    body(text, row);
    first += text.draws();
  }
}

uint64_t probabilities_of(const TextRows& texts, uint64_t heads) {
  uint64_t count = 0;
  for (size_t i = 0; i < texts.texts(); ++i) count += heads * texts.tokens(i) * texts.tokens(i);
  return count;
}

}  // namespace

void EncoderLayer::forward(const TextRows& texts, const float* input, const EncoderDropouts& dropouts,
                           EncoderCache& cache, float* output, EncoderScratch& scratch) const {
  const size_t rows = texts.rows(), width = shape_.width, inner = shape_.inner;
  float* qkv = cache.qkv.reserve(rows * 3 * width);
  query_.forward(rows, {input, width}, {qkv, 3 * width});
  key_.forward(rows, {input, width}, {qkv + width, 3 * width});
  value_.forward(rows, {input, width}, {qkv + 2 * width, 3 * width});
  cache.probabilities.reserve(probabilities_of(texts, shape_.heads));
  float* context = cache.context.reserve(rows * width);
  each_text(texts, shape_, dropouts.probabilities, cache, [&](const AttentionText& text, size_t row) {
    attention_forward(text, context + row * width, scratch.attention);
  });
  float* dense = scratch.dense.reserve(rows * width);
  attention_output_.forward(rows, {context, width}, {dense, width});
  float* attended = cache.attended.reserve(rows * width);
  drop_add_norm(store_, attention_norm_, shape_.epsilon, rows, width, dropouts.attention, dense, input,
                cache.attention_norm, attended);
  float *sums = cache.inner.reserve(rows * inner), *activated = cache.activated.reserve(rows * inner);
  inner_.forward(rows, {attended, width}, {sums, inner});
  activation_forward(shape_.activation, rows * inner, sums, activated);
  output_.forward(rows, {activated, inner}, {dense, width});
  drop_add_norm(store_, output_norm_, shape_.epsilon, rows, width, dropouts.feed_forward, dense, attended,
                cache.output_norm, output);
}

void EncoderLayer::give(const Linear& layer, size_t rows, const ConstRows& in, const ConstRows& d_out,
                        EncoderScratch& scratch, const GrainSink& sink) const {
  float *weight = scratch.gradient.reserve(layer.outputs() * layer.inputs()),
        *bias = scratch.bias.reserve(layer.outputs());
  layer.gradients(rows, in, d_out, weight, bias, scratch.products);
  sink.dense(layer.weight(), weight);
  sink.dense(layer.bias(), bias);
}

void EncoderLayer::backward(const TextRows& texts, const float* input, const EncoderDropouts& dropouts,
                            EncoderCache& cache, float* d_output, EncoderScratch& scratch,
                            const GrainSink& sink) const {
  const size_t rows = texts.rows(), width = shape_.width, inner = shape_.inner;
  float *d_dense = scratch.dense.reserve(rows * width), *d_inner = scratch.d_inner.reserve(rows * inner);

  norm_backward_rows(store_, output_norm_, rows, width, cache.output_norm, d_output, sink);
  drop(dropouts.feed_forward, rows * width, d_output, d_dense);
  give(output_, rows, {cache.activated.data(), inner}, {d_dense, width}, scratch, sink);
  output_.backward(rows, {d_dense, width}, {d_inner, inner}, Start::zero);
  activation_backward(shape_.activation, rows * inner, cache.inner.data(), d_inner, d_inner);
  give(inner_, rows, {cache.attended.data(), width}, {d_inner, inner}, scratch, sink);
  inner_.backward(rows, {d_inner, inner}, {d_output, width}, Start::add);  // d_output: the residual's part

  norm_backward_rows(store_, attention_norm_, rows, width, cache.attention_norm, d_output, sink);
  drop(dropouts.attention, rows * width, d_output, d_dense);
  give(attention_output_, rows, {cache.context.data(), width}, {d_dense, width}, scratch, sink);
  float *d_context = scratch.d_context.reserve(rows * width),
        *d_qkv = scratch.d_qkv.reserve(rows * 3 * width);
  attention_output_.backward(rows, {d_dense, width}, {d_context, width}, Start::zero);
  each_text(texts, shape_, dropouts.probabilities, cache, [&](const AttentionText& text, size_t row) {
    attention_backward(text, d_context + row * width, d_qkv + row * 3 * width, scratch.attention);
  });
  const Linear* const parts[] = {&query_, &key_, &value_};
  for (size_t part = 0; part < 3; ++part) {
    const ConstRows d_part = {d_qkv + part * width, 3 * width};
    give(*parts[part], rows, {input, width}, d_part, scratch, sink);
    parts[part]->backward(rows, d_part, {d_output, width}, Start::add);
  }
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
