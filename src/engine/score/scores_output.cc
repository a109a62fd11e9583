#include "engine/score/scores.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json class_json(const ClassScores& c, bool thresholds) {
  Json out = {
      {"name", c.name}, {"support", c.support},     {"predicted", c.predicted},
      {"hits", c.hits}, {"precision", c.precision}, {"recall", c.recall},
      {"f1", c.f1},     {"auc", or_null(c.auc)},    {"average_precision", or_null(c.average_precision)}};
  if (thresholds) {
    out["best_f1"] = or_null(c.best_f1);
    out["best_threshold"] = or_null(c.best_threshold);
  }
  return out;
}

bool has_thresholds(const Scores& scores) { return scores.multi_label || scores.classes.size() == 2; }

Json masked_json(const Scores& scores) {
  return {{"samples", scores.samples},
          {"masked_pieces", scores.masked->pieces},
          {"mean_loss", or_null(scores.mean_loss)},
          {"perplexity", scores.masked->perplexity},
          {"masked_accuracy", scores.masked->accuracy},
          {"notes", scores.notes}};
}

}  // namespace

Json to_json(const Scores& scores) {
  if (scores.masked) return masked_json(scores);
  Json out;
  out["samples"] = scores.samples;
  out["multi_label"] = scores.multi_label;
  out["accuracy"] = scores.accuracy;
  if (scores.multi_label) out["exact_match"] = or_null(scores.exact_match);
  out["macro_precision"] = scores.macro_precision;
  out["macro_recall"] = scores.macro_recall;
  out["macro_f1"] = scores.macro_f1;
  out["micro_f1"] = scores.micro_f1;
  out["weighted_f1"] = scores.weighted_f1;
  out["auc"] = or_null(scores.auc);
  out["average_precision"] = or_null(scores.average_precision);
  out["mean_loss"] = or_null(scores.mean_loss);
  if (!scores.multi_label) out["matthews"] = or_null(scores.matthews);
  out["classes"] = Json::array();
  for (const auto& c : scores.classes) out["classes"].push_back(class_json(c, has_thresholds(scores)));
  if (!scores.confusion.empty()) out["confusion"] = scores.confusion;
  const NullScores& null = scores.null_classifier;
  out["null_classifier"] = {
      {"predicts", null.predicts}, {"accuracy", null.accuracy}, {"macro_f1", null.macro_f1}};
  if (scores.multi_label) out["null_classifier"]["exact_match"] = or_null(null.exact_match);
  out["notes"] = scores.notes;
  return out;
}

Table scores_table(const Scores& scores) {
  const bool thresholds = has_thresholds(scores);
  std::vector<std::string> columns = {scores.multi_label ? "label" : "class",
                                      "samples",
                                      "predicted",
                                      "precision",
                                      "recall",
                                      "F1",
                                      "AUC",
                                      "avg precision"};
  if (thresholds) columns.insert(columns.end(), {"best F1", "at threshold"});
  Table table(columns);
  for (const auto& c : scores.classes) {
    std::vector<Json> row = {c.name,   c.support, c.predicted,    c.precision,
                             c.recall, c.f1,      or_null(c.auc), or_null(c.average_precision)};
    if (thresholds) row.insert(row.end(), {or_null(c.best_f1), or_null(c.best_threshold)});
    table.add(std::move(row));
  }
  // With two classes AUC and average precision are the second class's, not a mean.
  const bool means = scores.multi_label || scores.classes.size() != 2;
  std::vector<Json> mean = {"macro mean",
                            scores.samples,
                            Json(),
                            scores.macro_precision,
                            scores.macro_recall,
                            scores.macro_f1,
                            means ? or_null(scores.auc) : Json(),
                            means ? or_null(scores.average_precision) : Json()};
  if (thresholds) mean.insert(mean.end(), {Json(), Json()});
  table.add(std::move(mean));
  return table;
}

Table confusion_table(const Scores& scores) {
  if (scores.multi_label) {
    Table table(
        {"label", "true yes, said yes", "true yes, said no", "true no, said yes", "true no, said no"});
    for (const auto& c : scores.classes)
      table.add({c.name, c.hits, c.support - c.hits, c.predicted - c.hits,
                 scores.samples - c.support - c.predicted + c.hits});
    return table;
  }
  std::vector<std::string> columns = {"true \\ predicted"};
  if (!scores.confusion.empty())
    for (const auto& c : scores.classes) columns.push_back(c.name);
  Table table(columns);
  for (size_t i = 0; i < scores.confusion.size(); ++i) {
    std::vector<Json> row = {scores.classes[i].name};
    for (uint64_t count : scores.confusion[i]) row.push_back(count);
    table.add(std::move(row));
  }
  return table;
}

}  // namespace paceline
