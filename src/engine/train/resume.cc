#include "engine/train/resume.h"

#include "base/error.h"
#include "base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/kernels/gemm.h"
#include "engine/train/bert_start.h"

namespace paceline {
namespace {

// The keys that change bits and differ, "learning-rate (0.2 before, 0.3 now)"; of another model: that alone.
std::string differences(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now) {
  std::string text;
  for (const auto& [key, value] : now.items()) {
    if (!changes_bits(key) || (before.contains(key) && before.at(key) == value)) continue;
    text += fmt::format("{}{} ({} before, {} now)", text.empty() ? "" : ", ", key,
                        before.contains(key) ? before.at(key).dump() : "absent", value.dump());
    if (key == "model") break;
  }
  return text;
}

void check_origin(const Run& run, const OpenCheckpoint& checkpoint) {
  const std::string name = checkpoint.folder.string();
  const auto& data = checkpoint.state.at("data");
  const std::string before = data.at("fingerprint"), now = run.data.fingerprint();
  if (before != now)
    input_error(
        "{}: not the data set that the run was trained on (fingerprint {} now, {} in {}); prepare it as "
        "before, or begin another run",
        run.options.data, now, before, name);
  const nlohmann::ordered_json config = checkpoint.state.at("config");
  const std::string changed = differences(config, config_json(run.options));
  if (!changed.empty()) input_error("{}: a checkpoint of another run: {}; remove it", name, changed);
}

void load(Run& run, const OpenCheckpoint& checkpoint) {
  try {
    check_origin(run, checkpoint);
    load_position(checkpoint.state, run);
    const std::string before = checkpoint.state.at("kernels");
    if (before != kernel_target() && !(fused_multiply_add(before) && fused_multiply_add()))
      run.remarks.push_back(
          fmt::format("the run was computed with {} so far and goes on with {}: its bits will be neither's",
                      before, kernel_target()));
    run.learner->load_state(checkpoint.tensors, checkpoint.state.at("learner"));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& problem) {
    input_error("{}: its state is not one of this program: {}; remove it", checkpoint.folder.string(),
                problem.what());
  }
}

// RUN/model may be of an evaluation that this position has not made (a kill before the checkpoint, or
// --max-time): the best one so far is put back. True: the
// learner was changed.
bool restore_model(Run& run) {
  std::error_code ignored;
  if (run.position.model_hash.empty() || !run.has_valid()) return false;
  if (fs::exists(run.folder->weights(), ignored) &&
      file_checksum(run.folder->weights()) == run.position.model_hash)
    return false;
  for (const auto& info : list_checkpoints(run.folder->checkpoints())) {
    if (info.step != run.position.best_step) continue;
    try {
      const OpenCheckpoint best = open_checkpoint(info.folder);
      run.learner->load_state(best.tensors, best.state.at("learner"));
    } catch (const InputError& problem) {
      run.remarks.push_back(problem.what());
      return true;
    }
    save_model(run.learner->model(), run.task, fs::path(run.options.data) / run.data.tokenizer.vocabulary,
               run.folder->model());
    return true;
  }
  return false;
}

}  // namespace

void load_position(const nlohmann::json& state, Run& run) {
  Position& position = run.position;
  state.at("step").get_to(position.step);
  state.at("samples").get_to(position.samples);
  state.at("tokens").get_to(position.tokens);
  state.at("evaluated_step").get_to(position.evaluated_step);
  state.at("loss").get_to(position.loss);
  state.at("best").at("step").get_to(position.best_step);
  state.at("best").at("model").get_to(position.model_hash);
  run.stopping.load(state.at("stopping"));
  run.divergence.load(state.at("divergence"));
}

void check_same_bits(const TrainOptions& now, const TrainOptions& before, const fs::path& run) {
  const std::string changed = differences(config_json(before), config_json(now));
  if (!changed.empty())
    input_error("--resume: this would change the result of {}: {}; leave it out, or begin another run",
                run.string(), changed);
}

nlohmann::ordered_json run_state(const Run& run) {
  const Position& at = run.position;
  // An evaluation whose model is not on disk is made again by a resumed run.
  const bool again = at.model_unsaved && at.evaluated_step == at.step;
  return {
      {"program", PACELINE_VERSION},
      {"kernels", kernel_target()},
      {"step", at.step},
      {"samples", at.samples},
      {"tokens", at.tokens},
      {"evaluated_step", again ? 0 : at.evaluated_step},
      {"loss", at.loss},
      {"best", {{"step", at.best_step}, {"model", at.model_hash}}},
      {"schedule_steps", run.schedule.steps},
      {"stopping", (again ? run.stopping_before : run.stopping).state()},
      {"divergence", run.divergence.state()},
      {"learner", run.learner->state_numbers()},
      {"data", {{"fingerprint", run.data.fingerprint()}, {"vocabulary", run.data.tokenizer.vocabulary_hash}}},
      {"config", config_json(run.options)}};
}

void load_newest_checkpoint(Run& run) {
  run.resumed_from = 0;
  std::vector<std::string> problems;
  const auto checkpoint = open_newest_checkpoint(run.folder->checkpoints(), problems);
  for (const auto& problem : problems) run.remarks.push_back(problem + "; the checkpoint before it is used");
  if (!checkpoint) {
    run.remarks.push_back("there is no checkpoint yet: the run begins again at step 0");
    if (!run.options.bert.init.empty()) start_from_init(run);
    return;
  }
  load(run, *checkpoint);
  run.resumed_from = run.position.step;
  const uint64_t before = checkpoint->state.value("schedule_steps", run.schedule.steps);
  if (before != run.schedule.steps && run.options.schedule != "constant" && !run.has_ended())
    run.remarks.push_back(
        fmt::format("the schedule now ends at step {} instead of {}; the learning rate goes on at {:.4g}",
                    run.schedule.steps, before, run.schedule.at(run.position.step)));
  if (restore_model(run)) run.learner->load_state(checkpoint->tensors, checkpoint->state.at("learner"));
}

}  // namespace paceline
