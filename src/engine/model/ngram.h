// Averaged embeddings of words and hashed word n-grams with a linear layer: the strong, cheap baseline.
#pragma once
#include "engine/model/learner.h"
#include "engine/model/loss.h"

namespace paceline {

NgramOptions ngram_options_from_json(const nlohmann::json& config);
// Throws InputError when the file cannot hold such a model: before memory is taken for it.
void check_ngram_file(const NgramOptions& options, const Task& task, const fs::path& file);

// Row r of the table: `dim` values, then (in training) the running sum of squares of its gradients, all
// in whole cache lines, so that a look-up or an update touches as few as possible. Rows are updated only
// when touched. Gradients of rows are added as integers, so their order does not matter.
class NgramModel final : public Model, public Learner {
 public:
  NgramModel(const TrainOptions& options, const Task& task);
  ~NgramModel() override;
  void logits(std::span<const Text> texts, std::span<float> out) const override;
  nlohmann::ordered_json config() const override;
  std::vector<TensorView> tensors() const override;
  void load(const SafetensorsReader& reader) override;

  void begin_step(const Batch& batch, unsigned executors) override;
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        unsigned executor) override;
  AtOnce at_once() const override { return {}; }
  // Samples' gradients, and sums of the output layer, in one bucket; every worker then adds the samples'
  // gradients up in the rows that they touch, which are many more.
  size_t buckets() const override { return 1; }
  void set_watch(BucketWatch* watch) override { watch_ = watch; }
  std::span<int32_t> gather(const Batch& batch, size_t bucket) override;
  std::span<uint32_t> maxima() override { return {}; }
  uint64_t probe(const Batch& batch) override;
  // The scale of a step is a bound that its gradients cannot exceed, so no step is repeated.
  bool finish_grains(const Batch& batch, Executors& executors) override;
  UpdateFacts update(const Batch& batch, double learning_rate, double weight, Executors& executors) override;
  const Model& model() const override { return *this; }
  std::vector<TensorView> state() const override;
  nlohmann::ordered_json state_numbers() const override { return nlohmann::ordered_json::object(); }
  void load_state(const SafetensorsReader& tensors, const nlohmann::json& numbers) override;
  void state_changed(const nlohmann::json&) override {}
  uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const override;

  // The rows of a text: its words, then its n-grams of two words and more.
  void rows_of(std::span<const uint32_t> ids, std::vector<uint32_t>& rows) const;

 private:
  static constexpr unsigned partitions = 64;
  struct Touch {
    uint32_t row, sample;
  };
  // What a grain leaves for the update.
  struct GrainGradient {
    std::vector<Touch> touched[partitions];
    std::vector<int64_t> output;  // classes x (dim + 1), the bias last
    std::vector<uint32_t> rows;   // scratch
    std::vector<float> hidden, values;
    bool computed = false;  // by this worker
  };
  struct RowSums;

  float* row(uint64_t index) { return table_.get() + index * stride_; }
  const float* row(uint64_t index) const { return table_.get() + index * stride_; }
  GrainLoss compute_grain(const Batch& batch, uint64_t grain);
  void mean_of_rows(std::span<const uint32_t> rows, float* hidden) const;
  void output_layer(const float* hidden, std::span<float> logits) const;
  void update_partition(unsigned partition, uint64_t grains, float learning_rate, float unit, RowSums& sums);
  void update_output(float learning_rate, float weight);
  void touch(const std::vector<uint32_t>& rows, uint32_t sample, GrainGradient& out);
  void scatter(const Batch& batch, Executors& executors);

  NgramOptions options_;
  uint64_t max_length_, vocabulary_, rows_, stride_;
  size_t classes_;
  ClassifierLoss loss_;
  std::unique_ptr<float, void (*)(void*)> table_;
  std::vector<float> output_, output_squares_;  // classes x (dim + 1)
  std::vector<int32_t> sample_gradients_;       // of the step: samples x stride
  std::vector<GrainGradient> grains_;
  std::vector<int64_t> output_sums_;  // of the step: all grains
  std::vector<int32_t> exchanged_;    // what gather() gave out; empty: nothing
  BucketWatch* watch_ = nullptr;
  std::vector<std::unique_ptr<RowSums>> sums_;  // one per executor
  float row_scale_ = 1, output_scale_ = 1;
};

}  // namespace paceline
