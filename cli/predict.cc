#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/terminal_progress.h"
#include "data/text/byte_source.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t bytes_at_once = size_t{1} << 20;
constexpr size_t max_line_bytes = size_t{16} << 20;

class Predict final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("model", &model_, "A model, or a run (then its best model).").named("MODEL|RUN").need();
    table.list("text", &texts_, "Text to label; without it a file, or the lines of standard input.")
        .named("TEXT");
    table.text("input", &input_, "File with a text a line (plain, gzip or zstd).").named("PATH");
    table.text("format", &format_, "How the answers are written; auto: a table on a terminal, else tsv.")
        .one_of({"auto", "table", "tsv", "jsonl"});
    table.flag("details", &details_, "Add tokens, ids, mask and logits.");
    table.integer("pad-to", &pad_to_, 0, 1 << 20, "With --details: pad ids and mask with 0 to this length.");
    declare_json(table, &json_);
  }

  int run() override {
    predictor_ = engine().open_predictor(model_);
    format_ = json_                                           ? "jsonl"
              : format_ != "auto"                             ? format_
              : isatty(STDOUT_FILENO) == 1 || !texts_.empty() ? "table"
                                                              : "tsv";
    if (!texts_.empty() && !input_.empty()) input_error("--text and --input: give one of them");
    for (const auto& text : texts_) answer(text, predictor_->predict(text));
    if (texts_.empty()) answer_lines();
    if (table_) fmt::print("{}", table_->text());
    return 0;
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
    std::vector<std::string_view> lines;
    size_t begin = 0;
    for (size_t end; (end = bytes.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      std::string_view line = bytes.substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines.push_back(line);
    }
    const std::vector<Prediction> predictions = predictor_->predict(lines);
    for (size_t i = 0; i < lines.size(); ++i) answer(lines[i], predictions[i]);
    return begin;
  }

  void answer(std::string_view text, const Prediction& p) {
    if (format_ == "jsonl")
      print_jsonl(text, p);
    else if (details_)
      print_details(text, p);
    else if (format_ == "tsv")
      print_tsv(text, p);
    else
      add_row(text, p);
  }

  std::string label_text(const Prediction& p) const {
    std::string label;
    for (uint32_t c : p.labels) label += (label.empty() ? "" : ",") + predictor_->classes()[c];
    return label.empty() ? "none" : label;
  }

  std::vector<uint32_t> padded(std::vector<uint32_t> values) const {
    if (values.size() < pad_to_) values.resize(pad_to_, 0);
    return values;
  }

  void print_jsonl(std::string_view text, const Prediction& p) {
    Json out = {{"text", text}};
    if (details_) {
      out["tokens"] = p.tokens;
      out["input_ids"] = padded(p.ids);
      out["attention_mask"] = padded(std::vector<uint32_t>(p.ids.size(), 1));
      out["logits"] = p.logits;
    }
    for (size_t c = 0; c < p.probabilities.size(); ++c)
      out["probabilities"][predictor_->classes()[c]] = p.probabilities[c];
    if (predictor_->multi_label()) {
      out["label"] = Json::array();
      for (uint32_t c : p.labels) out["label"].push_back(predictor_->classes()[c]);
    } else {
      out["label"] = label_text(p);
    }
    fmt::print("{}\n", out.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  void print_tsv(std::string_view text, const Prediction& p) {
    std::string flat(text);
    for (char& c : flat)
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    std::string line = label_text(p);
    for (float probability : p.probabilities) line += fmt::format("\t{:.6f}", probability);
    fmt::print("{}\t{}\n", line, flat);
  }

  void add_row(std::string_view text, const Prediction& p) {
    if (!table_) {
      std::vector<std::string> columns = {"label"};
      for (const auto& name : predictor_->classes()) columns.push_back(name);
      columns.emplace_back("text");
      table_ = std::make_unique<Table>(columns);
    }
    std::vector<Json> cells = {label_text(p)};
    for (float probability : p.probabilities) cells.emplace_back(probability);
    cells.emplace_back(std::string(text));
    table_->add(std::move(cells));
    // On a long input the table comes in parts, so that memory stays bounded.
    if (table_->size() >= 1000) {
      fmt::print("{}", table_->text());
      table_.reset();
    }
  }

  void print_details(std::string_view text, const Prediction& p) {
    fmt::print("text   {}\nlabel  {}\n\n", text, label_text(p));
    Table classes({"class", "logit", "probability"});
    for (size_t c = 0; c < p.logits.size(); ++c)
      classes.add({predictor_->classes()[c], p.logits[c], p.probabilities[c]});
    fmt::print("{}\n", classes.text());
    Table tokens({"position", "token", "id", "mask"});
    const std::vector<uint32_t> ids = padded(p.ids);
    for (size_t i = 0; i < p.tokens.size(); ++i) tokens.add({i, p.tokens[i], std::to_string(ids[i]), "1"});
    fmt::print("{}", tokens.text());
    if (ids.size() > p.tokens.size())
      fmt::print("… and {} positions of padding (id 0, mask 0)\n", ids.size() - p.tokens.size());
    fmt::print("\n");
  }

  std::string model_, input_, format_ = "auto";
  std::vector<std::string> texts_;
  uint64_t pad_to_ = 0;
  bool details_ = false, json_ = false;
  std::unique_ptr<Predictor> predictor_;
  std::unique_ptr<Table> table_;
};

}  // namespace

std::unique_ptr<Command> make_predict() { return std::make_unique<Predict>(); }

}  // namespace paceline::cli
