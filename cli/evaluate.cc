#include <unistd.h>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/scores_page.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {
namespace {

class Evaluate final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("model", &model_, "A model, or a run (then its best model).").named("MODEL|RUN").need();
    table.text("data", &data_, "Data set to score on.").named("DATASET").need();
    table.text("split", &split_, "Part of the data set.").one_of({"train", "valid", "test"});
    table
        .text("checkpoint", &checkpoint_,
              "Score the run as it was at this step instead, or at best or last; two of them side by side.")
        .named("A,B");
    table.integer("top", &top_, 0, 1000,
                  "Show so many texts with the highest and the lowest score, and those that are most wrong.");
    table.text("of", &of_, "Class whose scores --top goes by; the second of two, else the first.")
        .named("CLASS");
    table.flag("baseline", &baseline_, "Also train ngram on the data set's split train, and show it beside.");
    table.integer("executors", &executors_, 0, 4096,
                  "Threads; 0: all usable cores. The scores do not depend on it.");
    declare_json(table, &json_);
  }

  int run() override {
    TerminalProgress progress;
    const size_t comma = std::min(checkpoint_.find(','), checkpoint_.size());
    std::vector<std::string> checkpoints = {checkpoint_.substr(0, comma)};
    if (comma < checkpoint_.size()) checkpoints.push_back(checkpoint_.substr(comma + 1));
    if (checkpoints.back().find(',') != std::string::npos)
      input_error("--checkpoint {}: name one or two", checkpoint_);
    if (checkpoints.size() > 1 && (checkpoints[0].empty() || checkpoints[1].empty()))
      input_error("--checkpoint {}: name two, as in 100,200, or one", checkpoint_);
    std::vector<EvaluateResult> results;
    for (const auto& checkpoint : checkpoints)
      results.push_back(engine().evaluate(options_for(checkpoint), progress));
    std::optional<Scores> baseline;
    if (baseline_) baseline = baseline_scores(progress);
    if (json_)
      print_json(results.size() == 1 ? result_json(results[0], baseline) : pair_json(results, baseline));
    else
      fmt::print("{}", results.size() == 1 ? scores_page(results[0].scores, baseline)
                                           : comparison_page(name_of(results[0]), results[0].scores,
                                                             name_of(results[1]), results[1].scores));
    if (!json_ && top_ > 0)
      for (const auto& result : results)
        show_extremes(result, results.size() > 1 ? name_of(result) + ": " : "");
    return 0;
  }

  EvaluateOptions options_for(const std::string& checkpoint) const {
    return {.model = model_,
            .data = data_,
            .split = split_,
            .checkpoint = checkpoint,
            .executors = static_cast<unsigned>(executors_),
            .top = top_,
            .of = of_};
  }

  static std::string name_of(const EvaluateResult& result) { return fmt::format("step {}", *result.step); }

  nlohmann::ordered_json result_json(const EvaluateResult& result,
                                     const std::optional<Scores>& baseline) const {
    auto out = to_json(result.scores);
    out["split"] = split_;
    if (result.step) out["step"] = *result.step;
    if (result.extremes) out["top"] = to_json(*result.extremes);
    if (baseline) out["baseline"] = to_json(*baseline);
    return out;
  }

  nlohmann::ordered_json pair_json(const std::vector<EvaluateResult>& results,
                                   const std::optional<Scores>& baseline) const {
    nlohmann::ordered_json out = {{"checkpoints", nlohmann::ordered_json::array()}};
    for (const auto& result : results) out["checkpoints"].push_back(result_json(result, std::nullopt));
    if (baseline) out["baseline"] = to_json(*baseline);
    return out;
  }

  static void show_extremes(const EvaluateResult& result, const std::string& prefix) {
    const size_t columns = isatty(STDOUT_FILENO) == 1 ? 70 : 160;
    const Extremes& found = *result.extremes;
    const auto show = [&](const std::string& title, const std::vector<ScoredSample>& samples) {
      fmt::print("\n{}{}\n{}", prefix, title,
                 samples.empty() ? "none\n" : samples_table(samples, found.of, columns).text());
    };
    show(fmt::format("the highest scores for '{}'", found.of), found.highest);
    show(fmt::format("the lowest scores for '{}'", found.of), found.lowest);
    show(fmt::format("the most wrong for '{}'", found.of), found.most_wrong);
  }

  // Trains in a folder of its own beside the system's temporary files, which goes again.
  Scores baseline_scores(Progress& progress) {
    const fs::path scratch = fs::temp_directory_path() / fmt::format("paceline-baseline-{}", getpid());
    struct Removal {
      fs::path path;
      ~Removal() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
      }
    } removal{scratch};
    TrainOptions options;
    options.data = data_;
    options.out = scratch.string();
    options.executors = executors_;
    engine().train(options, *make_single_exchange(), progress);
    EvaluateOptions evaluation = options_for("");
    evaluation.model = scratch;
    evaluation.top = 0;
    return engine().evaluate(evaluation, progress).scores;
  }

  std::string model_, data_, split_ = "test", checkpoint_, of_;
  uint64_t executors_ = 0, top_ = 0;
  bool baseline_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_evaluate() { return std::make_unique<Evaluate>(); }

}  // namespace paceline::cli
