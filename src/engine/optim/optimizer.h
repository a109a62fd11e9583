// Adam, AdamW and SGD with momentum over the parameters of a model.
#pragma once
#include "engine/optim/exact_sum.h"

namespace paceline {

class Optimizer {
 public:
  Optimizer(const TrainOptions& options, const TensorModel& model);
  // gradient_factor: what all gradients are multiplied by (clipping).
  void step(double learning_rate, double gradient_factor, const ExactSum& sum, Executors& executors);

  std::vector<TensorView> state() const;
  nlohmann::ordered_json state_numbers() const;
  // The tensors of state() are read by the caller.
  void load_numbers(const nlohmann::json& numbers);

 private:
  struct Numbers;
  void update(const Numbers& numbers, size_t parameter, const float* gradient, uint64_t first,
              uint64_t count) const;
  void update_rows(const Numbers& numbers, size_t parameter, const ExactSum& sum, uint64_t first,
                   uint64_t count);
  bool is_still_zero(const Numbers& numbers, size_t parameter, uint32_t row) const;
  void find_moments();  // those that were loaded

  TrainOptions options_;
  const TensorModel& model_;
  bool adam_, lazy_;
  // beta^t after the steps so far; kept, so that no library's pow() takes part in the bits.
  double beta1_power_ = 1, beta2_power_ = 1;
  std::vector<AlignedFloats> first_, second_;      // moments; first_ alone is SGD's velocity
  std::vector<std::vector<uint8_t>> has_moments_;  // of every row of an embedding: it was touched once
};

}  // namespace paceline
