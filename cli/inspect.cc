#include "base/error.h"
#include "base/events/events.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/dataset_tables.h"
#include "data/dataset/reader.h"
#include "data/dataset/tokenizer.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

class Inspect final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("path", &path_, "A data set, a run or a model.").named("DATASET|RUN|MODEL").need();
    table.integer("rows", &rows_, 0, 1000, "Rows of a data set to show, as words.");
    table.text("split", &split_, "Split whose rows are shown.").one_of({"train", "valid", "test"});
    declare_json(table, &json_);
  }

  int run() override {
    std::error_code ignored;
    const fs::path folder = path_;
    if (!fs::exists(folder, ignored)) input_error("{}: there is no such folder", path_);
    if (fs::exists(folder / "dataset.json", ignored)) return inspect_dataset();
    if (fs::exists(folder / "events.jsonl", ignored)) return inspect_run();
    if (fs::exists(folder / "config.json", ignored)) return inspect_model();
    input_error("{}: neither a data set (dataset.json), a run (events.jsonl) nor a model (config.json)",
                path_);
  }

  int inspect_dataset() {
    const DatasetInfo info = read_dataset_info(path_);
    if (json_) {
      print_json(to_json(info));
      return 0;
    }
    fmt::print("{}{}", dataset_summary(info, path_), rows_ == 0 ? "" : rows_text(info));
    return 0;
  }

  std::string rows_text(const DatasetInfo& info) const {
    const Vocabulary words = load_vocabulary(path_, info.tokenizer);
    SplitReader reader(path_, info, split_);
    Rows rows;
    reader.read(0, std::min(rows_, reader.rows()), rows);
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i)
      text += fmt::format("\n[{}] {}\n", label_text(info, rows, i), text_of(words, rows.row(i)));
    return text;
  }

  static std::string label_text(const DatasetInfo& info, const Rows& rows, size_t row) {
    if (info.labels == LabelKind::single) return info.classes[rows.labels[row]];
    std::string text;
    for (size_t c = 0; c < info.classes.size() && info.labels == LabelKind::multiple; ++c)
      if (rows.flags[row * info.classes.size() + c] != 0) text += (text.empty() ? "" : ",") + info.classes[c];
    return text.empty() ? "none" : text;
  }

  static std::string text_of(const Vocabulary& words, std::span<const uint32_t> ids) {
    std::string text;
    for (uint32_t id : ids) text += (text.empty() ? "" : " ") + std::string(words.word(id));
    return text;
  }

  int inspect_model() {
    const Json config = Json::parse(read_file(fs::path(path_) / "config.json", 64 << 20), nullptr, false);
    if (!config.is_object()) input_error("{}/config.json: not a JSON object", path_);
    if (json_) {
      print_json(config);
      return 0;
    }
    Table table({"key", "value"});
    for (const auto& [key, value] : config.items())
      table.add({key, value.is_string() ? value.get<std::string>() : value.dump()});
    std::error_code ignored;
    table.add(
        {"model.safetensors", human_bytes(fs::file_size(fs::path(path_) / "model.safetensors", ignored))});
    fmt::print("{}", table.text());
    return 0;
  }

  int inspect_run() {
    Json summary = {{"run", path_}};
    uint64_t steps = 0;
    Table evaluations({"step", "split", "accuracy", "macro-F1", "loss", "best"});
    Table guesses({"step", "split", "perplexity", "masked accuracy", "loss", "best"});
    read_events(fs::path(path_) / "events.jsonl", [&](const Json& event) {
      const std::string kind = event.at("event");
      if (kind == "run") {
        summary["started"] = event.value("started", "");
        summary.erase("end");  // of the process before, when the run was resumed
      }
      if (kind == "config") summary["config"] = event.at("config");
      if (kind == "data")
        summary["data"] = {
            {"path", event.at("path")}, {"fingerprint", event.at("fingerprint")}, {"rows", event.at("rows")}};
      if (kind == "step") {
        steps = event.at("step");
        summary["last_step"] = {{"step", event.at("step")},
                                {"loss", event.at("loss")},
                                {"learning_rate", event.at("learning_rate")}};
      }
      if (kind == "evaluation") {
        const auto& scores = event.at("scores");
        const Json best = event.at("best").get<bool>() ? "best" : "";
        if (scores.contains("perplexity"))
          guesses.add({event.at("step"), event.at("split"), scores.at("perplexity"),
                       scores.at("masked_accuracy"), scores.at("mean_loss"), best});
        else
          evaluations.add({event.at("step"), event.at("split"), scores.at("accuracy"), scores.at("macro_f1"),
                           scores.value("mean_loss", Json()), best});
      }
      if (kind == "resources")
        summary["peak_memory"] = human_bytes(event.at("peak_rss_bytes").get<uint64_t>());
      if (kind == "end") summary["end"] = event;
      return true;
    });
    if (guesses.size() > 0) evaluations = guesses;
    summary["evaluations"] = evaluations.json();
    if (json_) {
      print_json(summary);
      return 0;
    }
    const Json end = summary.value("end", Json{{"status", "not ended: still running, or killed"}});
    fmt::print("{}: started {}, {} (step {})\n\n", path_, summary.value("started", "?"),
               end.value("status", ""), with_commas(steps));
    Table config({"key", "value"});
    const Json keys = summary.value("config", Json::object());
    for (const auto& [key, value] : keys.items())
      config.add({key, value.is_string() ? value.get<std::string>() : value.dump()});
    fmt::print("{}", config.text());
    if (evaluations.size() > 0) fmt::print("\n{}", evaluations.text());
    return 0;
  }

  std::string path_, split_ = "train";
  uint64_t rows_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect() { return std::make_unique<Inspect>(); }

}  // namespace paceline::cli
