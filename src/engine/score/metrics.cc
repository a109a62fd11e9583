#include "engine/score/metrics.h"

#include "base/error.h"

namespace paceline {

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {
      "macro_f1", "accuracy",   "exact_match",    "macro_precision", "macro_recall",
      "micro_f1", "auc",        "weighted_f1",    "mean_loss",       "average_precision",
      "matthews", "perplexity", "masked_accuracy"};
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
  if (name == "perplexity") return scores.masked ? std::optional(scores.masked->perplexity) : std::nullopt;
  if (name == "masked_accuracy") return scores.masked ? std::optional(scores.masked->accuracy) : std::nullopt;
  input_error("'{}' is not a metric", name);
}

bool larger_is_better(const std::string& name) { return name != "mean_loss" && name != "perplexity"; }

bool metric_exists(const std::string& name, ScoreKind kind) {
  if (name == "mean_loss") return true;
  if (name == "perplexity" || name == "masked_accuracy") return kind == ScoreKind::masked_pieces;
  if (name == "exact_match") return kind == ScoreKind::labels;
  if (name == "matthews") return kind == ScoreKind::classes;
  return kind != ScoreKind::masked_pieces;
}

std::string where_metric_exists(const std::string& name) {
  const bool classes = metric_exists(name, ScoreKind::classes),
             labels = metric_exists(name, ScoreKind::labels);
  if (classes && labels) return "where texts have labels";
  if (classes) return "where a text has one class";
  return labels ? "where a text has any number of labels" : "where there are no labels";
}

std::string metrics_of(ScoreKind kind) {
  std::string names;
  for (const auto& name : metric_names())
    if (metric_exists(name, kind)) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace paceline
