// BERT's head that guesses masked pieces: a dense layer, the activation, a layer norm, and the product with
// the embedding of words. It is given masked rows alone. Names and layouts are those of Hugging Face's
// BertForMaskedLM.
#pragma once
#include "engine/kernels/vocabulary_loss.h"
#include "engine/model/encoder_layer.h"
#include "engine/model/learner.h"

namespace paceline {

struct MaskedHeadSpace {
  AlignedFloats sums, activated, hidden, logits, d_hidden, d_bias;
  AlignedFloats d_words;  // the embedding's gradient, as large as the embedding
  NormCache norm;
};

class MaskedHead {
 public:
  // Adds its parameters to the store. words: the number of the embedding there, which it shares.
  MaskedHead(ParameterStore& store, size_t words, const EncoderLayer::Shape& shape);
  void fill(ParameterStore& store, uint64_t seed, double deviation) const;
  // Pieces that it tells apart: rows of the embedding.
  size_t pieces() const { return store_[words_].shape[0]; }
  // What is to be done after every change of the weights, in parts that may be done at once.
  size_t parts() const { return blocks_.size() + 1; }
  void pack(size_t part);

  // Of one grain. truths: the piece that stands in each row of input. d_input receives the gradient.
  // words_learn: the embedding's gradient is left in space.d_words; the rest goes to the sink.
  GrainLoss train(std::span<const uint32_t> truths, const float* input, float* d_input, bool words_learn,
                  MaskedHeadSpace& space, EncoderScratch& scratch, const PartSink& sink) const;
  // The loss of each row.
  void score(std::span<const uint32_t> truths, const float* input, MaskedHeadSpace& space,
             std::span<RowLoss> out) const;
  // pieces() probabilities for each of `count` rows.
  void probabilities(size_t count, const float* input, MaskedHeadSpace& space, float* out) const;
  // The parameters in the order in which train gives them.
  std::vector<size_t> gradient_order() const;
  uint64_t space_floats(uint64_t masked_rows) const;

 private:
  // Some rows of the embedding, laid out for the products with it and its transpose. Small enough that a
  // panel of either stays in the second cache.
  struct Block {
    size_t begin, end;
    PackedMatrix ahead, back;
  };
  static constexpr size_t block_pieces = 512;
  static constexpr size_t rows_at_once = 192;  // bounds the memory for logits

  size_t stride() const { return (pieces() + 15) / 16 * 16; }  // of rows of logits
  // The layers before the last product: fills space.hidden.
  void forward(size_t count, const float* input, MaskedHeadSpace& space) const;
  // Logits of `count` rows of space.hidden from `first` on.
  float* decode(size_t first, size_t count, MaskedHeadSpace& space) const;
  // Gradients of what comes after space.hidden for those rows, whose logits have become gradients.
  void decode_backward(size_t first, size_t count, bool words_learn, MaskedHeadSpace& space,
                       ProductScratch& scratch) const;

  const ParameterStore& store_;
  EncoderLayer::Shape shape_;
  size_t words_, bias_;
  Linear transform_;
  Norm norm_;
  std::vector<Block> blocks_;
};

}  // namespace paceline
