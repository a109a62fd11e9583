#include "engine/train/keeper.h"

#include "base/error.h"
#include "base/hash.h"
#include "engine/train/resume.h"

namespace paceline {
namespace {

constexpr std::chrono::minutes save_interval{5};

}  // namespace

Keeper::Keeper(Run& run, Record& record) : run_(run), record_(record) {
  if (run.folder) writer_.emplace(run.folder->checkpoints(), run.options.keep);
  if (run.resumed_from && run.position.step > 0) saved_step_ = run.position.step;
}

bool Keeper::keep_model() {
  Position& at = run_.position;
  if (!writer_) return true;
  try {
    save_model(run_.learner->model(), run_.task, fs::path(run_.options.data) / run_.data.tokenizer.vocabulary,
               run_.folder->model());
    at.model_hash = file_checksum(run_.folder->weights());
    at.best_step = at.step;
    unsaved_.clear();
    record_.model();
  } catch (const WorkError& problem) {
    unsaved_ = problem.what();
  } catch (const InputError& problem) {  // the vocabulary is gone
    unsaved_ = problem.what();
  } catch (const fs::filesystem_error& problem) {
    unsaved_ = problem.what();
  }
  if (unsaved_.empty()) return true;
  record_.fault(
      "model_failed", at.step,
      fmt::format("the model of step {} could not be saved: {}; training goes on", at.step, unsaved_));
  return false;
}

void Keeper::note_kept_elsewhere() {
  if (writer_) return;
  run_.position.model_hash = "kept by rank 0";
  run_.position.best_step = run_.position.step;
}

void Keeper::save(const std::vector<std::string>& best_for) {
  writer_->save(run_.position.step, run_state(run_), run_.learner->state(), best_for);
  saved_at_ = Clock::now();
  saved_step_ = run_.position.step;
}

bool Keeper::save_if_due(bool evaluated, const std::vector<std::string>& best_for) {
  if (!writer_) return false;
  const uint64_t every = run_.options.save_every, step = run_.position.step;
  const bool due = every > 0 ? step % every == 0 : evaluated || Clock::now() - saved_at_ >= save_interval;
  if (!due && best_for.empty() && step < run_.options.steps) return false;
  save(best_for);
  return true;
}

std::string Keeper::save_now() {
  if (!writer_) return {};
  if (run_.position.step == 0) return "no step was finished";
  if (saved_step_ != run_.position.step) save({});
  writer_->wait();
  collect_reports();
  return failed_step_ == run_.position.step ? failure_ : "";
}

void Keeper::collect_reports() {
  if (!writer_) return;
  for (const auto& report : writer_->take_reports()) {
    record_.checkpoint(report);
    if (report.failure.empty()) continue;
    failed_step_ = report.step;
    failure_ = report.failure;
  }
}

fs::path Keeper::good_checkpoint(uint64_t step) {
  if (!writer_) return {};
  writer_->wait();
  fs::path found;
  for (const auto& info : list_checkpoints(run_.folder->checkpoints()))
    if (info.step <= step) found = info.folder;
  return found;
}

}  // namespace paceline
