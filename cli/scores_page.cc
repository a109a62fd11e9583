#include "cli/scores_page.h"

#include <fmt/core.h>

namespace paceline::cli {
namespace {

using Cell = nlohmann::ordered_json;

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell change(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? Cell(*after - *before) : Cell();
}

void add_model(Table& table, const std::string& name, const Scores& scores) {
  table.add({name, scores.accuracy, scores.macro_precision, scores.macro_recall, scores.macro_f1,
             optional_cell(scores.auc), optional_cell(scores.mean_loss)});
}

std::vector<Cell> masked_row(const std::string& name, const Scores& scores) {
  return {name, scores.masked->perplexity, scores.masked->accuracy, optional_cell(scores.mean_loss)};
}

std::string masked_page(const Scores& scores, Table table) {
  return fmt::format("{} samples, {} masked pieces\n\n{}", with_commas(scores.samples),
                     with_commas(scores.masked->pieces), table.text());
}

Table masked_table() { return Table({"", "perplexity", "masked accuracy", "loss"}); }

}  // namespace

std::string scores_page(const Scores& scores, const std::optional<Scores>& baseline) {
  if (scores.masked) {
    Table table = masked_table();
    table.add(masked_row("this model", scores));
    return masked_page(scores, table);
  }
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

std::string comparison_page(const std::string& first_name, const Scores& first,
                            const std::string& second_name, const Scores& second) {
  if (first.masked && second.masked) {
    Table table = masked_table();
    table.add(masked_row(first_name, first));
    table.add(masked_row(second_name, second));
    table.add({"change", second.masked->perplexity - first.masked->perplexity,
               second.masked->accuracy - first.masked->accuracy, change(first.mean_loss, second.mean_loss)});
    return masked_page(first, table);
  }
  Table models({"", "accuracy", "precision", "recall", "macro-F1", "AUC", "loss"});
  add_model(models, first_name, first);
  add_model(models, second_name, second);
  models.add({"change", second.accuracy - first.accuracy, second.macro_precision - first.macro_precision,
              second.macro_recall - first.macro_recall, second.macro_f1 - first.macro_f1,
              change(first.auc, second.auc), change(first.mean_loss, second.mean_loss)});
  Table classes({first.multi_label ? "label" : "class", "samples", "F1, " + first_name, second_name, "change",
                 "AUC, " + first_name, second_name, "change"});
  for (size_t i = 0; i < first.classes.size(); ++i) {
    const ClassScores &a = first.classes[i], &b = second.classes[i];
    classes.add({a.name, a.support, a.f1, b.f1, b.f1 - a.f1, optional_cell(a.auc), optional_cell(b.auc),
                 change(a.auc, b.auc)});
  }
  std::string out =
      fmt::format("{} samples\n\n{}\n{}", with_commas(first.samples), models.text(), classes.text());
  for (const auto& note : second.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace paceline::cli
