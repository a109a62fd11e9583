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
    table.flag("baseline", &baseline_, "Also train ngram on the data set's split train, and show it beside.");
    table.integer("executors", &executors_, 0, 4096,
                  "Threads; 0: all usable cores. The scores do not depend on it.");
    declare_json(table, &json_);
  }

  int run() override {
    TerminalProgress progress;
    const EvaluateResult result =
        engine().evaluate(model_, data_, split_, static_cast<unsigned>(executors_), progress);
    std::optional<Scores> baseline;
    if (baseline_) baseline = baseline_scores(progress);
    if (json_) {
      auto out = to_json(result.scores);
      out["split"] = split_;
      if (baseline) out["baseline"] = to_json(*baseline);
      print_json(out);
    } else {
      fmt::print("{}", scores_page(result.scores, baseline));
    }
    return 0;
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
    return engine().evaluate(scratch, data_, split_, static_cast<unsigned>(executors_), progress).scores;
  }

  std::string model_, data_, split_ = "test";
  uint64_t executors_ = 0;
  bool baseline_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_evaluate() { return std::make_unique<Evaluate>(); }

}  // namespace paceline::cli
