#include "cli/scores_page.h"

#include <fmt/core.h>

namespace paceline::cli {
namespace {

using Cell = nlohmann::ordered_json;

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

void add_model(Table& table, const std::string& name, const Scores& scores) {
  table.add({name, scores.accuracy, scores.macro_precision, scores.macro_recall, scores.macro_f1,
             optional_cell(scores.auc), optional_cell(scores.mean_loss)});
}

}  // namespace

std::string scores_page(const Scores& scores, const std::optional<Scores>& baseline) {
  Table models({"", "accuracy", "precision", "recall", "macro-F1", "AUC", "loss"});
  add_model(models, "this model", scores);
  if (baseline) add_model(models, "ngram baseline", *baseline);
  const auto& null = scores.null_classifier;
  models.add({fmt::format("always '{}'", null.predicts), null.accuracy, Cell(), Cell(), null.macro_f1, Cell(),
              Cell()});
  std::string out = fmt::format("{} samples\n\n{}\n{}", with_commas(scores.samples), models.text(),
                                scores_table(scores).text());
  if (scores.classes.size() <= 20) out += "\n" + confusion_table(scores).text();
  for (const auto& note : scores.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace paceline::cli
