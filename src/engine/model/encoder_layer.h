// One layer of a Transformer's encoder as in BERT: attention, then a feed-forward part, each followed by
// dropout, the residual and a layer norm.
#pragma once
#include "engine/model/attention.h"
#include "engine/model/layer_norm.h"
#include "engine/model/linear.h"

namespace paceline {

// Texts one after another, without padding, of one or several grains: text i has the rows
// [begin[i], begin[i + 1]), and grain g the texts [grains[g], grains[g + 1]).
struct TextRows {
  std::vector<uint32_t> begin = {0}, grains = {0};
  std::vector<uint32_t> bounds = {0};  // the first row of each grain, and the end
  std::vector<RowPlace> places;        // of rows
  size_t texts() const { return begin.size() - 1; }
  size_t rows() const { return begin.back(); }
  size_t tokens(size_t text) const { return begin[text + 1] - begin[text]; }
  void clear();
  void add_text(size_t tokens);
  void end_grain();
};

// The rows of which a layer's output is wanted: what a head does not look at need not be computed by the last
// layer. Text i has those in [begin[i], begin[i + 1]) of `rows`, each once.
struct AskingRows {
  std::vector<uint32_t> begin = {0}, rows, bounds = {0};
  std::vector<RowPlace> places;
  void clear();
  // The text that was added last, and the tokens in it that ask.
  void add_text(const TextRows& texts, std::span<const uint32_t> tokens);
  void end_grain();
};

// Of each grain; empty: none.
struct EncoderDropouts {
  std::vector<Dropout> probabilities, attention, feed_forward;
};

struct EncoderCache {
  AlignedFloats queries, keys_values, probabilities, context, attended, inner, activated;
  NormCache attention_norm, output_norm;
};

// Shared by the layers of one executor.
struct EncoderScratch {
  AlignedFloats dense, d_context, d_inner, d_queries, d_keys_values, d_input;
  std::vector<uint32_t> tokens;  // of a text that ask
  AttentionScratch attention;
  ProductScratch products;
};

class EncoderLayer {
 public:
  struct Shape {
    uint64_t width, heads, inner;
    Activation activation;
    float epsilon;
  };
  // Adds its parameters to the store, with the names of Hugging Face's BertModel behind the prefix.
  EncoderLayer(ParameterStore& store, const std::string& prefix, const Shape& shape);
  void fill(ParameterStore& store, uint64_t seed, double deviation) const;
  static constexpr size_t products = 6;
  void pack(size_t product) { linear(product).pack(); }

  // input: rows x width; output: as many rows as ask. asking: nullptr when all do.
  void forward(const TextRows& texts, const AskingRows* asking, const float* input,
               const EncoderDropouts& dropouts, EncoderCache& cache, AlignedFloats& output,
               EncoderScratch& scratch) const;
  // d_output becomes the gradient of the input.
  void backward(const TextRows& texts, const AskingRows* asking, const float* input,
                const EncoderDropouts& dropouts, EncoderCache& cache, AlignedFloats& d_output,
                EncoderScratch& scratch, const PartSink& sink) const;
  // The parameters in the order in which backward gives them.
  std::vector<size_t> gradient_order() const;
  static uint64_t cache_floats(const Shape& shape, uint64_t rows, uint64_t longest);

 private:
  Linear& linear(size_t product);

  const ParameterStore& store_;
  Shape shape_;
  Linear query_, key_, value_, attention_output_, inner_, output_;
  Norm attention_norm_, output_norm_;
};

}  // namespace paceline
