#include "engine/train/trainer.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "engine/evaluate/evaluate.h"
#include "engine/train/keeper.h"
#include "engine/train/record.h"
#include "engine/train/run.h"
#include "engine/train/teamwork.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Trainer {
 public:
  Trainer(Run& run, Progress& progress)
      : run_(run),
        record_(run, progress),
        keeper_(run, record_),
        team_(*run.crew, *run.learner, *run.executors, run.joining, !run.options.no_exchange, run.speed) {}

  TrainResult train() {
    try {
      loop();
      return finish();
    } catch (const Interrupted& signal) {
      leave(signal);
    } catch (const FailedTogether& problem) {
      end_failed(problem.what());
      if (run_.crew->rank() > 0) throw WorkError("");
      throw;
    } catch (const std::exception& problem) {
      run_.crew->fail(problem.what());
      end_failed(problem.what());
      throw;
    }
  }

 private:
  // What every worker finds out alike, so that rank 0 alone says it.
  struct FailedTogether : WorkError {
    using WorkError::WorkError;
  };
  void end_failed(const char* problem) {
    keeper_.collect_reports();
    record_.end_early("failed", problem);
  }
  bool is_alone() const { return run_.crew->is_alone(); }
  void loop();
  void take_step();
  GrainLoss compute_grains(const Batch& batch, StepFacts& facts);
  void record_weights();
  void evaluate();
  std::vector<std::string> score();
  bool out_of_time() const;
  void stop_in_time();
  [[noreturn]] void give_up(const std::string& what);
  std::string how_to_go_on() const;
  [[noreturn]] void leave(const Interrupted& signal);
  TrainResult finish();

  Run& run_;
  Record record_;
  Keeper keeper_;
  StepMeter meter_;
  Teamwork team_;
  int signal_ = 0;            // one that all workers know of
  bool out_of_time_ = false;  // likewise
  Clock::time_point started_ = Clock::now();
  std::string stopped_;  // why the run ended before its last step
};

// An evaluation that an earlier process did not come to is made first.
void Trainer::loop() {
  if (run_.position.step == 0) {
    record_weights();
    meter_.lap(Phase::evaluate);
  }
  while (true) {
    if (is_alone()) throw_if_interrupted();
    if (signal_ != 0) throw Interrupted(signal_);
    if (run_.evaluation_is_due()) evaluate();
    if (run_.has_ended()) break;
    if (is_alone() ? out_of_time() : out_of_time_) return stop_in_time();
    take_step();
    const bool saved = !run_.evaluation_is_due() && keeper_.save_if_due(false, {});
    keeper_.collect_reports();
    meter_.lap(saved ? Phase::save : Phase::update);
  }
  if (run_.position.step < run_.options.steps) stopped_ = run_.stopping.reason();
}

// One step: batch, grains, update, record.
void Trainer::take_step() {
  Position& at = run_.position;
  const Batch& batch = run_.batches->at(at.step);
  meter_.lap(Phase::data);
  StepFacts facts;
  facts.epoch = batch.epoch;
  facts.samples = batch.samples.size();
  facts.tokens = batch.tokens;
  const GrainLoss total = compute_grains(batch, facts);
  facts.loss = total.loss / total.weight;
  if (run_.task.guesses_pieces()) facts.masked_accuracy = total.right / total.weight;
  if (!std::isfinite(facts.loss)) give_up(fmt::format("step {}: the loss is not a number", at.step + 1));
  facts.learning_rate = run_.schedule.at(at.step);
  facts.gradient_norm =
      run_.learner->update(batch, facts.learning_rate, total.weight, *run_.executors).gradient_norm;
  meter_.lap(Phase::update);
  ++at.step;
  at.samples += facts.samples;
  at.tokens += facts.tokens;
  at.loss = facts.loss;
  const StepSeconds seconds = meter_.finish();
  team_.end_step(seconds, facts.attempts);
  record_.step(facts, seconds);
  if (run_.divergence.add(at.step, facts.loss))
    give_up(fmt::format("step {}: the loss has diverged (lately {:.4g}, {:.4g} before)", at.step,
                        run_.divergence.short_average(), run_.divergence.long_average()));
}

// All grains, and again while a gradient left the range of its integers.
GrainLoss Trainer::compute_grains(const Batch& batch, StepFacts& facts) {
  for (facts.attempts = 1;; ++facts.attempts) {
    StepTogether together = team_.compute(
        batch, static_cast<uint32_t>(facts.attempts), [this] { return out_of_time(); }, meter_);
    if (facts.attempts == 1) record_.workers_of_step(together.before);
    if (together.signal != 0) signal_ = together.signal;
    out_of_time_ = together.out_of_time;
    try {
      if (!run_.learner->finish_grains(batch, *run_.executors)) continue;
    } catch (const WorkError& problem) {
      give_up(problem.what());
    }
    facts.grains = std::move(together.grains);
    facts.workers = std::move(together.workers);
    return together.total;
  }
}

// What another run of the same training is compared with.
void Trainer::record_weights() {
  if (run_.folder) record_.weights(sketches_of(run_.learner->model().tensors(), *run_.executors));
}

// Scores the split valid and keeps the model when it is the best so far: its checkpoint comes after it, so
// that a resumed run decides again what is not on disk.
void Trainer::evaluate() {
  const std::vector<std::string> best_for = score();
  meter_.lap(Phase::evaluate);
  keeper_.save_if_due(true, best_for);
  meter_.lap(Phase::save);
}

std::vector<std::string> Trainer::score() {
  const auto begin = Clock::now();
  const Stopping before = run_.stopping;
  std::vector<std::string> best_for;
  bool best = true;
  if (run_.has_valid()) {
    NoProgress quiet;
    const Scores scores =
        evaluate_split(run_.learner->model(), run_.task, run_.options.data, run_.data, "valid",
                       *run_.executors, quiet, run_.crew.get(), run_.position.step);
    best_for = run_.stopping.add(run_.position.step, scores);
    best = run_.position.model_hash.empty() ||
           std::find(best_for.begin(), best_for.end(), run_.stopping.first_metric()) != best_for.end();
    record_.evaluation(scores, best_for, seconds_since(begin));
  }
  run_.position.evaluated_step = run_.position.step;
  if (best) run_.position.model_unsaved = !run_.crew->ask_first(keeper_.keep_model());
  if (best && !run_.position.model_unsaved) keeper_.note_kept_elsewhere();
  if (best && run_.position.model_unsaved) {
    run_.stopping_before = before;
    run_.stopping.put_back(run_.stopping.first_metric(), before);
    std::erase(best_for, run_.stopping.first_metric());
  }
  record_weights();
  record_.resources();
  return best_for;
}

bool Trainer::out_of_time() const {
  return run_.options.max_time > 0 && seconds_since(started_) >= run_.options.max_time * 60;
}

// The checkpoint is that of a run that goes on; the evaluation is only for the model that is left here.
void Trainer::stop_in_time() {
  const Position& at = run_.position;
  stopped_ = fmt::format(
      "--max-time {} was over after step {} of {}; --steps {} --schedule-steps {} gives the "
      "same model, --resume goes on",
      run_.options.max_time, at.step, run_.options.steps, at.step, run_.schedule.steps);
  if (at.step == 0)
    throw FailedTogether(fmt::format("--max-time {} was over before the first step", run_.options.max_time));
  keeper_.save_now();
  if (at.evaluated_step != at.step) score();
}

void Trainer::give_up(const std::string& what) {
  const fs::path good = keeper_.good_checkpoint(run_.divergence.calm_step());
  throw FailedTogether(
      fmt::format("{}; {}; train again with a smaller --learning-rate{} or a longer --warmup", what,
                  good.empty() ? "there is no good checkpoint"
                               : fmt::format("the last good checkpoint is {}", good.string()),
                  run_.options.model == "ngram" ? "" : ", --clip 1"));
}

std::string Trainer::how_to_go_on() const {
  const TrainOptions& options = run_.options;
  std::string command = fmt::format("paceline train --out {} --resume", options.out);
  if (!options.hosts.empty())
    command += fmt::format(" --hosts {}", fmt::join(options.hosts, ","));
  else if (options.workers > 1)
    command += fmt::format(" --workers {}", options.workers);
  return command;
}

void Trainer::leave(const Interrupted& signal) {
  const std::string problem = keeper_.save_now();
  const std::string message =
      problem.empty()
          ? fmt::format("interrupted: saved at step {}; go on with: {}", run_.position.step, how_to_go_on())
          : fmt::format("interrupted: not saved at step {}: {}; go on from the last checkpoint with: {}",
                        run_.position.step, problem, how_to_go_on());
  record_.end_early("interrupted", message);
  try {
    run_.crew->close();         // rank 0 has saved when the others get past this
  } catch (const WorkError&) {  // a worker is gone already; all that matters is done
  }
  throw Interrupted(signal.signal(), run_.crew->rank() == 0 ? message : "");
}

TrainResult Trainer::finish() {
  if (!is_alone()) record_.workers_of_step(team_.exchange_seconds());
  keeper_.save_now();
  if (!run_.crew->ask_first(keeper_.unsaved_model().empty()))
    throw FailedTogether(fmt::format("the best model could not be saved: {}", keeper_.unsaved_model()));
  run_.crew->close();
  const double seconds = seconds_since(started_);
  record_.end_done(seconds, stopped_.empty() ? "done" : "stopped", stopped_);
  TrainResult result;
  result.seconds = seconds;
  result.stopped = stopped_;
  return result;
}

TrainResult with_position(TrainResult result, const Run& run) {
  const Position& at = run.position;
  result.steps = at.step;
  result.samples = at.samples;
  result.tokens = at.tokens;
  result.last_loss = at.loss;
  result.best_step = at.best_step;
  result.model_hash = at.model_hash;
  result.resumed_from = run.resumed_from;
  result.metric = run.stopping.first_metric();
  if (const auto* best = run.stopping.best(result.metric)) result.best_score = best->value;
  return result;
}

}  // namespace

TrainResult train(const TrainOptions& options, Exchange& exchange, Progress& progress) {
  Run run = open_run(options, exchange);
  if (run.was_complete) {
    TrainResult result;
    result.was_complete = true;
    return with_position(result, run);
  }
  return with_position(Trainer(run, progress).train(), run);
}

}  // namespace paceline
