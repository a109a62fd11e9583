// Losses of classifiers and their gradients, shared by all models.
#pragma once
#include "engine/model/model.h"

namespace paceline {

class ClassifierLoss {
 public:
  ClassifierLoss(const TrainOptions& options, const Task& task);
  // Turns a sample's logits into gradients of its weighted loss; returns that loss and adds its weight.
  double gradient(const Sample& sample, std::span<float> logits, double& weight) const;
  // The largest gradient that a logit can have.
  double bound() const { return bound_; }

 private:
  double single(uint32_t label, std::span<float> logits, double& weight) const;
  double multiple(std::span<const uint8_t> flags, std::span<float> logits) const;
  bool multi_label_;
  double focal_;  // exponent; 0: plain cross-entropy
  double bound_ = 0;
  std::vector<float> class_weights_;
};

}  // namespace paceline
