#include "base/table.h"
#include "cli/command.h"
#include "cli/engine_library.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {
namespace {

class Train final : public Command {
  void declare(FieldTable& table) override {
    declare_train_fields(table, options_);
    declare_json(table, &json_);
  }

  int run() override {
    TerminalProgress progress;
    const TrainResult result = engine().train(options_, progress);
    if (json_) {
      nlohmann::ordered_json out = {{"run", options_.out},       {"steps", result.steps},
                                    {"samples", result.samples}, {"seconds", result.seconds},
                                    {"loss", result.last_loss},  {"best_step", result.best_step},
                                    {"model", result.model_hash}};
      out["best_macro_f1"] =
          result.best_score ? nlohmann::ordered_json(*result.best_score) : nlohmann::ordered_json();
      print_json(out);
      return 0;
    }
    fmt::print("{}: {} steps, {} samples in {:.1f} s ({} samples/s), last loss {:.4f}\n", options_.out,
               with_commas(result.steps), with_commas(result.samples), result.seconds,
               with_commas(static_cast<uint64_t>(static_cast<double>(result.samples) /
                                                 std::max(1e-9, result.seconds))),
               result.last_loss);
    if (result.best_score)
      fmt::print("best on the split valid: macro-F1 {:.4f} at step {}\n", *result.best_score,
                 with_commas(result.best_step));
    fmt::print("model: {}/model ({})\n", options_.out, result.model_hash);
    return 0;
  }

  TrainOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_train() { return std::make_unique<Train>(); }

}  // namespace paceline::cli
