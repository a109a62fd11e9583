// Embeddings, layers of LSTM or GRU cells in one or both directions, pooling, a linear output layer.
// Tensors have PyTorch's names and layouts (docs/formats/model.md).
#pragma once
#include <mutex>

#include "engine/model/dropout.h"
#include "engine/model/loss.h"
#include "engine/model/parameter_store.h"
#include "engine/model/pooling.h"
#include "engine/model/recurrent_layer.h"

namespace paceline {

LstmOptions lstm_options_from_json(const nlohmann::json& config);
// Throws InputError when the file cannot hold such a model: before memory is taken for it.
void check_lstm_file(const LstmOptions& options, const Task& task, const fs::path& file);

struct LstmWorkspace final : Workspace {
  PackedGrains packed;
  std::vector<Text> texts;
  AlignedFloats embedded, pooled, d_pooled, row_gradients;
  struct Layer {
    std::vector<RecurrentCache> directions;
    std::vector<float> masks[2];    // recurrent dropout
    AlignedFloats joined, dropped;  // both directions side by side; after dropout
    std::vector<uint32_t> rows[2];  // of the input, for each row of the direction
    const float* output = nullptr;  // what the next layer or the pooling reads
  };
  std::vector<Layer> layers;
  PoolingCache pooling;
  AlignedFloats d_output, d_next;  // gradients of a layer's output, of its input
  RecurrentGradients gradients;
  std::vector<float> logits;
  std::vector<float> d_query, d_weight, d_bias;  // of each grain
  std::vector<uint64_t> order;                   // rows by token, to add the gradients of a word
  std::vector<uint32_t> ids;
};

class LstmModel : public TensorModel {
 public:
  LstmModel(const TrainOptions& options, const Task& task);
  std::span<const Parameter> parameters() const override { return store_.all(); }
  std::unique_ptr<Workspace> make_workspace() const override;
  AtOnce at_once() const override;
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        Workspace& workspace, GradientSink& sink) const override;
  uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const override;
  std::vector<size_t> gradient_order() const override;
  void touched_rows(const Batch& batch, size_t parameter, std::vector<uint32_t>& ids) const override;
  size_t parts_to_prepare() const override { return weights_.size(); }
  void prepare(size_t part) override { weights_[part].pack(); }
  void logits(std::span<const Text> texts, std::span<float> out) const override;
  nlohmann::ordered_json config() const override;

 protected:
  // Numbers of the parameters.
  struct DirectionParameters {
    size_t weight_ih, weight_hh, bias_ih, bias_hh;
  };
  // The dropouts of one grain; none are active outside of training.
  struct Dropouts {
    Dropout word, embedding, output;
    std::vector<Dropout> recurrent, layer;  // by layer * 2 + direction; by layer
  };
  Dropouts dropouts_of(uint64_t step, uint64_t grain) const;
  void pack(const Batch& batch, uint64_t first, uint64_t count, LstmWorkspace& w) const;

  // dropouts: of each packed grain; those of one kind are active in all or in none.
  using DropoutsOfGrains = std::span<const Dropouts>;
  void forward(LstmWorkspace& w, DropoutsOfGrains dropouts) const;
  void output_layer(LstmWorkspace& w) const;
  std::vector<GrainLoss> loss_and_output_gradient(const Batch& batch, uint64_t first, LstmWorkspace& w) const;
  void backward(LstmWorkspace& w, DropoutsOfGrains dropouts, GradientSink& sink) const;
  ConstRows layer_input(const LstmWorkspace& w, size_t layer, size_t direction) const;
  void embed(LstmWorkspace& w, DropoutsOfGrains dropouts) const;
  void recurrent_mask(const PackedGrains& packed, size_t number, DropoutsOfGrains dropouts,
                      std::vector<float>& mask) const;
  void forward_layer(LstmWorkspace& w, size_t layer, DropoutsOfGrains dropouts) const;
  void drop_rows(const PackedGrains& packed, size_t layer, DropoutsOfGrains dropouts, const float* from,
                 float* to) const;
  void drop_pooled(const PackedGrains& packed, DropoutsOfGrains dropouts, float* pooled) const;
  void backward_layer(LstmWorkspace& w, size_t layer, DropoutsOfGrains dropouts, GradientSink& sink) const;
  void drop_embedding_gradient(LstmWorkspace& w, DropoutsOfGrains dropouts) const;
  void embedding_gradient(LstmWorkspace& w, size_t grain, GradientSink& sink) const;

  TrainOptions options_;
  Cell cell_;
  Pooling pooling_;
  size_t embedding_, hidden_, layers_, directions_, width_, classes_;
  uint64_t vocabulary_;
  ClassifierLoss loss_;
  ParameterStore store_;
  size_t embedding_number_, attention_number_ = 0, output_weight_, output_bias_;
  std::vector<DirectionParameters> numbers_;  // layer * directions + direction
  std::vector<RecurrentWeights> weights_;

 private:
  void declare_parameters();
  void fill_parameters();
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<LstmWorkspace>> idle_;  // for logits()
};

}  // namespace paceline
