// BERT: embeddings, encoder layers, and a head that classifies texts or guesses masked pieces. Tensors have
// the names and layouts of Hugging Face's BertForSequenceClassification and BertForMaskedLM
// (docs/formats/model.md).
#pragma once
#include <array>
#include <mutex>

#include "engine/model/loss.h"
#include "engine/model/masked_head.h"
#include "engine/model/piece_guesser.h"

namespace paceline {

struct BertWorkspace final : Workspace {
  TextRows texts;
  std::vector<uint32_t> ids, positions, types;  // of rows
  NormCache embedding_norm;
  AlignedFloats embedded;  // the first layer's input
  std::vector<AlignedFloats> outputs;
  std::vector<EncoderCache> caches;  // of each layer, or one for all of them where layers are computed again
  AlignedFloats again;               // output of a layer that is computed again
  EncoderScratch scratch;
  AlignedFloats d_output;
  AskingRows asking;  // where the head looks: the texts' first rows, or masked ones
  AlignedFloats pooled, dropped, logits, d_logits, d_pooled;
  AlignedFloats row_gradients;
  std::vector<uint64_t> order;  // rows by token, to add the gradients of a word
  std::vector<uint32_t> distinct;
  std::vector<RowPlace> text_places;  // of texts
  std::vector<uint32_t> truths;       // the pieces that stand in masked rows
  std::vector<MaskedPlace> hidden;
  std::vector<uint32_t> hidden_tokens;
  MaskedHeadSpace masked_space;
};

// Where a head that classifies looks: at the first token.
constexpr std::array<uint32_t, 1> first_token = {0};

class BertModel : public TensorModel, public PieceGuesser {
 public:
  BertModel(const TrainOptions& options, const Task& task);
  // Without those of frozen layers, which come first.
  std::span<const Parameter> parameters() const override { return store_.all().subspan(frozen_); }
  std::span<const Parameter> all_parameters() const { return store_.all(); }
  std::unique_ptr<Workspace> make_workspace() const override;
  // Together in all products with weights, which are large. One after the other with a head that guesses
  // pieces: the gradient of its last product is as large as the embedding.
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        Workspace& workspace, GradientSink& sink) const override;
  AtOnce at_once() const override { return {.samples = masked_ ? 1u : 16u, .tokens = 1024}; }
  uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const override;
  std::vector<size_t> gradient_order() const override;
  void touched_rows(const Batch& batch, size_t parameter, std::vector<uint32_t>& ids) const override;
  size_t parts_to_prepare() const override;
  void prepare(size_t part) override;
  // What every layer says about every token of a text: layers x tokens x width.
  std::vector<float> states(const Text& text) const;
  // Of a head that classifies.
  void logits(std::span<const Text> texts, std::span<float> out) const override;
  // Of a head that guesses pieces.
  size_t pieces() const override { return masked_->pieces(); }
  void guess(std::span<const Text> texts, std::span<const uint64_t> keys,
             std::span<GrainLoss> out) const override;
  void probabilities(const Text& text, std::span<const uint32_t> positions,
                     std::span<float> out) const override;
  nlohmann::ordered_json config() const override;
  std::vector<TensorView> tensors() const override;
  void load(const SafetensorsReader& reader) override;

 protected:
  struct Dropouts {
    std::vector<Dropout> embedding, pooled;  // of each grain; empty: none
    std::vector<EncoderDropouts> layers;
  };
  Dropouts dropouts_of(uint64_t step, uint64_t first, uint64_t count) const;
  Dropouts no_dropouts() const;
  std::vector<GrainLoss> compute_together(const Batch& batch, uint64_t first, uint64_t count,
                                          BertWorkspace& w, const PartSink& sink) const;
  GrainLoss compute_masked_grain(const Batch& batch, uint64_t grain, BertWorkspace& w,
                                 const PartSink& sink) const;
  void declare_parameters(const Task& task);
  void fill_parameters();
  // The tokens of a text, of which some ask.
  void add_text(const Text& text, std::span<const uint32_t> asking, BertWorkspace& w) const;
  void add_tokens(const Text& text, BertWorkspace& w) const;
  // Of a grain, as they are shown: with --piece-dropout some pieces are hidden.
  void add_labelled_texts(const Batch& batch, uint64_t grain, BertWorkspace& w) const;
  uint64_t masking_key(const Batch& batch, uint64_t grain, uint64_t text) const;
  void add_masked_text(const Text& text, uint64_t key, bool whole_words, BertWorkspace& w) const;
  void end_grain(BertWorkspace& w) const;
  void clear(BertWorkspace& w) const;
  class Borrowed;  // a workspace for what is not training

  void forward(BertWorkspace& w, const Dropouts& dropouts, bool training) const;
  void embed(BertWorkspace& w, std::span<const Dropout> dropouts) const;
  const float* layer_input(const BertWorkspace& w, size_t layer) const;
  const AskingRows* who_asks(const BertWorkspace& w, size_t layer) const;
  void head_forward(BertWorkspace& w, std::span<const Dropout> dropouts) const;
  std::vector<GrainLoss> head_backward(std::span<const Sample> samples, BertWorkspace& w,
                                       std::span<const Dropout> dropouts, const PartSink& sink) const;
  void backward(BertWorkspace& w, const Dropouts& dropouts, const PartSink& sink) const;
  void embedding_gradients(BertWorkspace& w, size_t grain, const PartSink& sink) const;

  TrainOptions options_;
  size_t width_, classes_;
  EncoderLayer::Shape shape_;
  ClassifierLoss loss_;
  ParameterStore store_;
  size_t words_, positions_, types_;
  Norm embedding_norm_;
  std::vector<EncoderLayer> layers_;
  Linear pooler_, classifier_;  // without masked_
  std::optional<MaskedHead> masked_;
  std::shared_ptr<const PieceKinds> kinds_;  // with masked_, or with --piece-dropout
  size_t frozen_ = 0;                        // parameters
  size_t first_layer_ = 0;                   // that learns; 0 with frozen_ == 0: the embeddings learn too

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<BertWorkspace>> idle_;  // that can be borrowed
};

// From Hugging Face's config.json.
BertOptions bert_options_from_json(const nlohmann::json& config);
// Throws InputError when the file cannot hold such a model: before memory is taken for it.
void check_bert_file(const BertOptions& options, const Task& task, const fs::path& file);

}  // namespace paceline
