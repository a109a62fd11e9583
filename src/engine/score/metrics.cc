#include "engine/score/metrics.h"

#include "base/error.h"

namespace paceline {

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {
      "macro_f1", "accuracy",    "exact_match", "macro_precision",   "macro_recall", "micro_f1",
      "auc",      "weighted_f1", "mean_loss",   "average_precision", "matthews"};
  return names;
}

std::optional<double> metric(const Scores& scores, const std::string& name) {
  if (name == "macro_f1") return scores.macro_f1;
  if (name == "accuracy") return scores.accuracy;
  if (name == "exact_match") return scores.exact_match;
  if (name == "macro_precision") return scores.macro_precision;
  if (name == "macro_recall") return scores.macro_recall;
  if (name == "micro_f1") return scores.micro_f1;
  if (name == "weighted_f1") return scores.weighted_f1;
  if (name == "auc") return scores.auc;
  if (name == "average_precision") return scores.average_precision;
  if (name == "mean_loss") return scores.mean_loss;
  if (name == "matthews") return scores.matthews;
  input_error("'{}' is not a metric", name);
}

bool larger_is_better(const std::string& name) { return name != "mean_loss"; }

bool metric_exists(const std::string& name, bool multi_label) {
  return name == "exact_match" ? multi_label : name == "matthews" ? !multi_label : true;
}

}  // namespace paceline
