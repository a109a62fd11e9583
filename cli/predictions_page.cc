#include "cli/predictions_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/mask_answers.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t rows_of_a_table = 1000;  // on a long input it comes in parts, so that memory stays bounded

std::string shown(const Question& question) {
  if (!question.second) return std::string(question.text);
  return fmt::format("{} | {}", question.text, *question.second);
}

}  // namespace

void PredictionsPage::add(const Question& question, const Prediction& p) {
  if (predictor_.fills_masks())
    add_filled(question, p);
  else if (format_.name == "jsonl")
    print_jsonl(question, p);
  else if (format_.details)
    print_details(question, p);
  else if (format_.name == "tsv")
    print_tsv(question, p);
  else
    add_row(question, p);
}

void PredictionsPage::end() {
  if (table_) fmt::print("{}", table_->text());
  table_.reset();
}

std::string PredictionsPage::label_text(const Prediction& p) const {
  std::string label;
  for (uint32_t c : p.labels) label += (label.empty() ? "" : ",") + predictor_.classes()[c];
  return label.empty() ? "none" : label;
}

std::vector<uint32_t> PredictionsPage::padded(std::vector<uint32_t> values) const {
  if (values.size() < format_.pad_to) values.resize(format_.pad_to, 0);
  return values;
}

std::vector<uint32_t> PredictionsPage::token_types(const Prediction& p) const {
  std::vector<uint32_t> types(p.ids.size(), 0);
  if (p.second_begin > 0) std::fill(types.begin() + p.second_begin, types.end(), 1u);
  return padded(types);
}

// The texts, and with details the tokens.
void PredictionsPage::add_tokens(const Question& question, const Prediction& p, Json& out) const {
  out["text"] = question.text;
  if (question.second) out["text_pair"] = *question.second;
  if (!format_.details) return;
  out["tokens"] = p.tokens;
  out["input_ids"] = padded(p.ids);
  out["attention_mask"] = padded(std::vector<uint32_t>(p.ids.size(), 1));
  if (question.second) out["token_type_ids"] = token_types(p);
}

// Of a model that guesses masked pieces.
void PredictionsPage::add_filled(const Question& question, const Prediction& p) {
  if (format_.name == "jsonl") {
    Json out;
    add_tokens(question, p, out);
    out["masks"] = masks_json(p);
    fmt::print("{}\n", out.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (format_.details) {
    fmt::print("text   {}\n\n{}\n", shown(question), mask_details(p));
    print_tokens(question, p);
  } else if (format_.name == "tsv") {
    fmt::print("{}", masks_tsv(shown(question), p));
  } else {
    if (!table_) table_ = std::make_unique<Table>(masks_table());
    add_masks(*table_, shown(question), p);
    print_full_table();
  }
}

void PredictionsPage::print_jsonl(const Question& question, const Prediction& p) const {
  Json out;
  add_tokens(question, p, out);
  if (format_.details) out["logits"] = p.logits;
  for (size_t c = 0; c < p.probabilities.size(); ++c)
    out["probabilities"][predictor_.classes()[c]] = p.probabilities[c];
  if (predictor_.multi_label()) {
    out["label"] = Json::array();
    for (uint32_t c : p.labels) out["label"].push_back(predictor_.classes()[c]);
  } else {
    out["label"] = label_text(p);
  }
  fmt::print("{}\n", out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void PredictionsPage::print_tsv(const Question& question, const Prediction& p) const {
  std::string flat = shown(question);
  for (char& c : flat)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  std::string line = label_text(p);
  for (float probability : p.probabilities) line += fmt::format("\t{:.6f}", probability);
  fmt::print("{}\t{}\n", line, flat);
}

void PredictionsPage::add_row(const Question& question, const Prediction& p) {
  if (!table_) {
    std::vector<std::string> columns = {"label"};
    for (const auto& name : predictor_.classes()) columns.push_back(name);
    columns.emplace_back("text");
    table_ = std::make_unique<Table>(columns);
  }
  std::vector<Json> cells = {label_text(p)};
  for (float probability : p.probabilities) cells.emplace_back(probability);
  cells.emplace_back(shown(question));
  table_->add(std::move(cells));
  print_full_table();
}

void PredictionsPage::print_full_table() {
  if (table_->size() >= rows_of_a_table) end();
}

void PredictionsPage::print_details(const Question& question, const Prediction& p) const {
  fmt::print("text   {}\nlabel  {}\n\n", shown(question), label_text(p));
  Table classes({"class", "logit", "probability"});
  for (size_t c = 0; c < p.logits.size(); ++c)
    classes.add({predictor_.classes()[c], p.logits[c], p.probabilities[c]});
  fmt::print("{}\n", classes.text());
  print_tokens(question, p);
}

void PredictionsPage::print_tokens(const Question& question, const Prediction& p) const {
  std::vector<std::string> columns = {"position", "token", "id", "mask"};
  if (question.second) columns.emplace_back("type");
  Table tokens(columns);
  const std::vector<uint32_t> types = token_types(p);
  for (size_t i = 0; i < p.tokens.size(); ++i) {
    std::vector<Json> cells = {i, p.tokens[i], std::to_string(p.ids[i]), "1"};
    if (question.second) cells.emplace_back(std::to_string(types[i]));
    tokens.add(std::move(cells));
  }
  fmt::print("{}", tokens.text());
  if (types.size() > p.tokens.size())
    fmt::print("… and {} positions of padding (id 0, mask 0)\n", types.size() - p.tokens.size());
  fmt::print("\n");
}

}  // namespace paceline::cli
