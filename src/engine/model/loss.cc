#include "engine/model/loss.h"

#include "base/portable_math.h"

namespace paceline {
namespace {

constexpr double smallest = 1e-30;

// With p the probability of the truth and L = -(1-p)^focal log p: L itself, and dL/dp * p.
struct Term {
  double loss, slope;
};
Term term(double p, double log_p, double focal) {
  if (focal == 0) return {-log_p, -1};
  const double rest = std::max(1 - p, 1e-12), log_rest = portable_log(rest);
  const double factor = portable_exp(focal * log_rest);
  return {-factor * log_p, focal * portable_exp((focal - 1) * log_rest) * p * log_p - factor};
}

}  // namespace

ClassifierLoss::ClassifierLoss(const TrainOptions& options, const Task& task)
    : multi_label_(task.labels == LabelKind::multiple),
      focal_(options.loss == "focal" ? options.focal_gamma : 0),
      class_weights_(task.class_weights) {
  if (class_weights_.empty()) class_weights_.assign(task.classes.size(), 1.f);
  for (float w : class_weights_) bound_ = std::max<double>(bound_, w);
  if (multi_label_) bound_ = std::max(bound_, 1.0);  // a label that is absent always weighs 1
  bound_ *= 1 + focal_;
}

double ClassifierLoss::gradient(const Sample& sample, std::span<float> logits, double& weight) const {
  if (!multi_label_) return single(sample.label, logits, weight);
  weight += 1;
  return multiple(sample.flags, logits);
}

double ClassifierLoss::single(uint32_t label, std::span<float> logits, double& weight) const {
  double largest = logits[0], sum = 0;
  for (float v : logits) largest = std::max<double>(largest, v);
  for (float v : logits) sum += portable_exp(v - largest);
  const double log_p = (logits[label] - largest) - portable_log(sum), w = class_weights_[label];
  const Term t = term(portable_exp(log_p), log_p, focal_);
  for (size_t c = 0; c < logits.size(); ++c) {
    const double probability = portable_exp(logits[c] - largest) / sum;
    logits[c] = static_cast<float>(w * t.slope * ((c == label ? 1 : 0) - probability));
  }
  weight += w;
  return w * t.loss;
}

double ClassifierLoss::multiple(std::span<const uint8_t> flags, std::span<float> logits) const {
  const double share = 1 / static_cast<double>(logits.size());
  double loss = 0;
  for (size_t c = 0; c < logits.size(); ++c) {
    const bool yes = flags[c] != 0;
    const double z = yes ? logits[c] : -static_cast<double>(logits[c]);
    const double e = portable_exp(-std::fabs(z));
    const double p = z >= 0 ? 1 / (1 + e) : e / (1 + e), rest = z >= 0 ? e / (1 + e) : 1 / (1 + e);
    const double log_p = p < smallest ? z : portable_log(p), w = (yes ? class_weights_[c] : 1.0) * share;
    const Term t = term(p, log_p, focal_);
    loss += w * t.loss;
    logits[c] = static_cast<float>(w * t.slope * rest * (yes ? 1 : -1));
  }
  return loss;
}

}  // namespace paceline
