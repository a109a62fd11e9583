#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "base/shortened.h"
#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/predictions_page.h"
#include "cli/terminal_progress.h"
#include "data/text/byte_source.h"

namespace paceline::cli {
namespace {

constexpr size_t bytes_at_once = size_t{1} << 20;
constexpr size_t max_line_bytes = size_t{16} << 20;

class Predict final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("model", &model_, "A model, or a run (then its best model).").named("MODEL|RUN").need();
    table
        .list(
            "text", &texts_,
            "Text to label, or with [MASK] in it to fill; without it a file, or the lines of standard input.")
        .named("TEXT");
    table.list("text-pair", &seconds_, "The second text of each pair, one for each --text.").named("TEXT");
    table.text("input", &input_, "File with a text a line (plain, gzip or zstd).").named("PATH");
    table.flag("pairs", &pairs_, "Each line has two texts with a tab between them.");
    table.text("format", &format_, "How the answers are written; auto: a table on a terminal, else tsv.")
        .one_of({"auto", "table", "tsv", "jsonl"});
    table.flag("details", &shown_.details, "Add tokens, ids, mask and logits.");
    table.integer("pad-to", &shown_.pad_to, 0, 1 << 20,
                  "With --details: pad ids and mask with 0 to this length.");
    declare_json(table, &json_);
  }

  int run() override {
    check_options();
    predictor_ = engine().open_predictor(model_);
    shown_.name = json_                                           ? "jsonl"
                  : format_ != "auto"                             ? format_
                  : isatty(STDOUT_FILENO) == 1 || !texts_.empty() ? "table"
                                                                  : "tsv";
    page_ = std::make_unique<PredictionsPage>(*predictor_, shown_);
    if (texts_.empty())
      answer_lines();
    else
      answer_texts();
    page_->end();
    return 0;
  }

  void check_options() const {
    if (!texts_.empty() && !input_.empty()) input_error("--text and --input: give one of them");
    if (!seconds_.empty() && seconds_.size() != texts_.size())
      input_error("--text-pair: {} second texts for {} texts; give one for each --text", seconds_.size(),
                  texts_.size());
    if (shown_.pad_to > 0 && !shown_.details)
      input_error("--pad-to {}: ids are shown by --details; add it, or leave this out", shown_.pad_to);
    if (pairs_ && !texts_.empty()) input_error("--pairs is for lines; use --text-pair with --text");
  }

  void answer_texts() {
    std::vector<Question> questions;
    for (size_t i = 0; i < texts_.size(); ++i) {
      questions.push_back({texts_[i]});
      if (!seconds_.empty()) questions.back().second = seconds_[i];
    }
    answer(questions);
  }

  void answer(std::span<const Question> questions) {
    const std::vector<Prediction> predictions = predictor_->predict(questions);
    for (size_t i = 0; i < questions.size(); ++i) {
      if (predictor_->fills_masks() && predictions[i].masks.empty() && !texts_.empty())
        input_error("--text: the model guesses the words behind [MASK], and '{}' has none",
                    shortened(questions[i].text));
      page_->add(questions[i], predictions[i]);
    }
  }

  // The lines that are there are answered together, and at once, so that a person or a program can talk to
  // it.
  void answer_lines() {
    auto source = open_byte_source(input_.empty() ? "-" : input_);
    std::error_code unknown;
    const uint64_t size = input_.empty() ? 0 : fs::file_size(input_, unknown);
    TerminalProgress drawn;
    NoProgress nothing;  // answers and a live line would get into each other's way
    Progress& progress = isatty(STDOUT_FILENO) == 1 ? static_cast<Progress&>(nothing) : drawn;
    progress.begin("predicting", unknown ? 0 : size, "bytes");
    std::string bytes;
    for (bool more = true, first = true; more; first = false) {
      throw_if_interrupted();
      const size_t had = bytes.size();
      if (had > max_line_bytes)
        input_error("a line of the input is longer than {}", human_bytes(max_line_bytes));
      bytes.resize(had + bytes_at_once);
      const size_t got = source->read(std::span(bytes).subspan(had));
      bytes.resize(had + got);
      more = got > 0;
      if (first && bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
      if (!more && !bytes.empty()) bytes += '\n';
      bytes.erase(0, answer_whole_lines(bytes));
      std::fflush(stdout);
      progress.update(source->consumed(), {});
    }
    progress.end();
  }

  // Returns how many bytes were used up.
  size_t answer_whole_lines(std::string_view bytes) {
    std::vector<Question> questions;
    size_t begin = 0;
    for (size_t end; (end = bytes.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      std::string_view line = bytes.substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      questions.push_back(question_of(line));
    }
    answer(questions);
    return begin;
  }

  Question question_of(std::string_view line) {
    ++line_number_;
    if (!pairs_) return {line};
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos)
      input_error("{}:{}: no tab between two texts, as --pairs needs it",
                  input_.empty() ? "standard input" : input_, line_number_);
    return {line.substr(0, tab), line.substr(tab + 1)};
  }

  std::string model_, input_, format_ = "auto";
  std::vector<std::string> texts_, seconds_;
  bool pairs_ = false, json_ = false;
  PredictionsFormat shown_;
  uint64_t line_number_ = 0;
  std::unique_ptr<Predictor> predictor_;
  std::unique_ptr<PredictionsPage> page_;
};

}  // namespace

std::unique_ptr<Command> make_predict() { return std::make_unique<Predict>(); }

}  // namespace paceline::cli
