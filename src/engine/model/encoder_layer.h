// One layer of a Transformer's encoder as in BERT: attention, then a feed-forward part, each followed by
// dropout, the residual and a layer norm.
#pragma once
#include "engine/model/attention.h"
#include "engine/model/layer_norm.h"
#include "engine/model/linear.h"

namespace paceline {

// Texts one after another, without padding: text i has the rows [begin[i], begin[i + 1]).
struct TextRows {
  std::vector<uint32_t> begin = {0};
  size_t texts() const { return begin.size() - 1; }
  size_t rows() const { return begin.back(); }
  size_t tokens(size_t text) const { return begin[text + 1] - begin[text]; }
};

struct EncoderDropouts {
  Dropout probabilities, attention, feed_forward;
};

struct EncoderCache {
  AlignedFloats qkv, probabilities, context, attended, inner, activated;
  NormCache attention_norm, output_norm;
};

// Shared by the layers of one executor.
struct EncoderScratch {
  AlignedFloats dense, d_context, d_inner, d_qkv, d_attended, gradient, bias;
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

  // input, output: rows x width.
  void forward(const TextRows& texts, const float* input, const EncoderDropouts& dropouts,
               EncoderCache& cache, float* output, EncoderScratch& scratch) const;
  // d_output becomes the gradient of the input.
  void backward(const TextRows& texts, const float* input, const EncoderDropouts& dropouts,
                EncoderCache& cache, float* d_output, EncoderScratch& scratch, const GrainSink& sink) const;
  // The parameters in the order in which backward gives them.
  std::vector<size_t> gradient_order() const;
  static uint64_t cache_floats(const Shape& shape, uint64_t rows, uint64_t longest);

 private:
  Linear& linear(size_t product);
  void give(const Linear& layer, size_t rows, const ConstRows& in, const ConstRows& d_out,
            EncoderScratch& scratch, const GrainSink& sink) const;

  const ParameterStore& store_;
  Shape shape_;
  Linear query_, key_, value_, attention_output_, inner_, output_;
  Norm attention_norm_, output_norm_;
};

}  // namespace paceline
