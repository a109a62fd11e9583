#include <signal.h>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/detach.h"
#include "cli/engine_library.h"
#include "cli/terminal_progress.h"
#include "cli/workers.h"

namespace paceline::cli {
namespace {

using Json = nlohmann::ordered_json;

// What the arguments say, as far as they can be understood: parsing them in earnest says what is wrong.
TrainOptions first_look(std::span<const std::string> arguments, bool& model_given) {
  TrainOptions seen;
  FieldTable table;
  declare_train_fields(table, seen);
  bool json = false;
  table.group("Output");
  declare_json(table, &json);
  for (auto& field : table.fields()) field.required = false;
  std::vector<std::string> words;
  for (const auto& argument : arguments)
    if (argument != "--help" && argument != "-h") words.push_back(argument);
  try {
    parse_arguments(table, words);
  } catch (const InputError&) {
    return seen;
  }
  model_given = table.find("model")->is_set;
  return seen;
}

class Train final : public Command {
  // Defaults are those of the model, or those that the run to resume was started with.
  void look_ahead(std::span<const std::string> arguments) override {
    arguments_.assign(arguments.begin(), arguments.end());
    bool model_given = false;
    const TrainOptions seen = first_look(arguments, model_given);
    options_ = default_train_options(seen.model);
    if (!seen.resume || seen.out.empty()) return;
    resuming_ = true;
    // Elsewhere the run's folder is out of sight; whoever has it tells the others what is in it.
    if (!(reads_run_ = has_run_folder(worker_, seen))) return;
    options_ = read_run_options(seen.out);
    if (model_given && seen.model != options_.model)
      input_error("--resume: {} trains model {}, not {}; leave --model out, or begin another run", seen.out,
                  options_.model, seen.model);
  }

  void declare(FieldTable& table) override {
    declare_train_fields(table, options_);
    table.group("Output");
    declare_json(table, &json_);
    if (resuming_) table.find("data")->required = false;
  }

  void resolve(FieldTable& table) override {
    if (worker_ && !worker_->supervised) refuse_own_workers(table);
    if (!reads_run_) return;
    resolve_train_fields(table, options_);
    // The number of steps in a run's record follows from its epochs.
    if (resuming_ && table.find("epochs")->is_set && !table.find("steps")->is_set) options_.steps = 0;
  }

  int run() override {
    signal(SIGHUP, SIG_IGN);
    if (worker_) return run_as_worker();
    if (options_.detach) return run_detached();
    if (has_workers(options_)) return launch_workers(options_, arguments_);
    TerminalProgress progress;
    return show(engine().train(options_, *make_single_exchange(), progress));
  }

  int run_as_worker() {
    const TrainResult result = train_as_worker(*worker_, options_);
    return worker_->rank == 0 ? show(result) : 0;
  }

  int run_detached() {
    Detached job;
    const fs::path folder = options_.out;
    if (!job.is_parent()) {
      if (has_workers(options_)) return launch_workers(options_, arguments_, &job);
      DetachedProgress progress(job, folder / "console.txt");
      return show(engine().train(options_, *make_single_exchange(), progress));
    }
    int code = 0;
    if (!job.has_begun(code)) return code;
    fmt::print("{}: training goes on in process {}\nwatch it:  tail -f {}\nstop it:   kill {}\n",
               options_.out, job.child(), (folder / "log.txt").string(), job.child());
    return 0;
  }

  int show(const TrainResult& result) const {
    if (json_)
      print_json(as_json(result));
    else if (result.was_complete)
      fmt::print("{}: finished already, at step {}; --resume with more --epochs or --steps extends it\n",
                 options_.out, with_commas(result.steps));
    else
      print_text(result);
    return 0;
  }

  Json as_json(const TrainResult& result) const {
    Json out = {{"run", options_.out},       {"steps", result.steps},    {"samples", result.samples},
                {"seconds", result.seconds}, {"loss", result.last_loss}, {"best_step", result.best_step},
                {"model", result.model_hash}};
    out["best_" + result.metric] = result.best_score ? Json(*result.best_score) : Json();
    out["resumed_from"] = result.resumed_from ? Json(*result.resumed_from) : Json();
    out["stopped"] = result.stopped.empty() ? Json() : Json(result.stopped);
    return out;
  }

  void print_text(const TrainResult& result) const {
    fmt::print("{}: {} steps, {} samples in {:.1f} s, last loss {:.4f}\n", options_.out,
               with_commas(result.steps), with_commas(result.samples), result.seconds, result.last_loss);
    if (!result.stopped.empty()) fmt::print("stopped early: {}\n", result.stopped);
    if (result.best_score)
      fmt::print("best on the split valid: {} {:.4f} at step {}\n",
                 result.metric == "macro_f1" ? "macro-F1" : result.metric, *result.best_score,
                 with_commas(result.best_step));
    fmt::print("model: {}/model ({})\n", options_.out, result.model_hash);
  }

  TrainOptions options_;
  std::vector<std::string> arguments_;
  const std::optional<WorkerEnvironment> worker_ = worker_environment();
  bool json_ = false, resuming_ = false, reads_run_ = true;
};

}  // namespace

std::unique_ptr<Command> make_train() { return std::make_unique<Train>(); }

}  // namespace paceline::cli
