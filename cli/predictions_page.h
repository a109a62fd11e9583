// How predictions are shown: to a person as tables, to a program as TSV or JSON lines.
#pragma once
#include <memory>

#include "base/table.h"
#include "engine/api/engine.h"

namespace paceline::cli {

struct PredictionsFormat {
  std::string name = "table";  // or tsv, jsonl
  bool details = false;        // tokens, ids, mask and logits, too
  uint64_t pad_to = 0;         // length that ids and mask are filled up to with 0
};

class PredictionsPage {
 public:
  // The predictor outlives it.
  PredictionsPage(const Predictor& predictor, PredictionsFormat format)
      : predictor_(predictor), format_(std::move(format)) {}
  // Prints an answer, or keeps it for a table.
  void add(const Question& question, const Prediction& prediction);
  // Prints what is left.
  void end();

 private:
  std::string label_text(const Prediction& p) const;
  std::vector<uint32_t> padded(std::vector<uint32_t> values) const;
  std::vector<uint32_t> token_types(const Prediction& p) const;
  void add_tokens(const Question& question, const Prediction& p, nlohmann::ordered_json& out) const;
  void add_filled(const Question& question, const Prediction& p);
  void print_jsonl(const Question& question, const Prediction& p) const;
  void print_tsv(const Question& question, const Prediction& p) const;
  void print_details(const Question& question, const Prediction& p) const;
  void print_tokens(const Question& question, const Prediction& p) const;
  void print_full_table();
  void add_row(const Question& question, const Prediction& p);

  const Predictor& predictor_;
  PredictionsFormat format_;
  std::unique_ptr<Table> table_;
};

}  // namespace paceline::cli
