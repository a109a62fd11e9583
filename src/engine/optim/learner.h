// How the parameters of a model follow its gradients: the exact sum, clipping, the optimizer, averages.
#pragma once
#include "engine/optim/optimizer.h"

namespace paceline {

// A learner for the model that the options name. vocabulary: for --word-vectors.
std::unique_ptr<Learner> make_learner(const TrainOptions& options, const Task& task,
                                      const fs::path& vocabulary = {});

class TensorLearner final : public Learner {
 public:
  TensorLearner(const TrainOptions& options, const Task& task);
  void begin_step(const Batch& batch, unsigned executors) override;
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        unsigned executor) override;
  AtOnce at_once() const override { return model_->at_once(); }
  size_t buckets() const override { return sum_.buckets(); }
  void set_watch(BucketWatch* watch) override { sum_.set_watch(watch); }
  std::span<int32_t> gather(const Batch&, size_t bucket) override { return sum_.gather(bucket); }
  std::span<uint32_t> maxima() override { return sum_.maxima(); }
  uint64_t probe(const Batch& batch) override;
  bool finish_grains(const Batch& batch, Executors& executors) override;
  UpdateFacts update(const Batch& batch, double learning_rate, double weight, Executors& executors) override;
  const Model& model() const override { return averaged_ ? *averaged_ : *model_; }
  TensorModel& trained() { return *model_; }
  std::vector<TensorView> state() const override;
  nlohmann::ordered_json state_numbers() const override;
  void load_state(const SafetensorsReader& tensors, const nlohmann::json& numbers) override;
  void state_changed(const nlohmann::json& numbers) override;
  uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const override;
  // After the weights were set from outside.
  void weights_changed();

 private:
  void average(uint64_t step, Executors& executors);
  TrainOptions options_;
  std::unique_ptr<TensorModel> model_, averaged_;  // averaged_: only with --ema
  ExactSum sum_;
  Optimizer optimizer_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one an executor
};

}  // namespace paceline
