#include "engine/train/checkpoint_model.h"

#include <algorithm>

#include "base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/optim/learner.h"

namespace paceline {
namespace {

fs::path find_checkpoint(const fs::path& run, const std::string& which) {
  const auto all = list_checkpoints(run / "checkpoints");
  if (all.empty()) input_error("--checkpoint {}: {} has no checkpoints", which, run.string());
  if (which == "last") return all.back().folder;
  const auto found = std::ranges::find_if(all, [&](const CheckpointInfo& checkpoint) {
    return which == "best" ? !checkpoint.best_for.empty() : std::to_string(checkpoint.step) == which;
  });
  if (found != all.end()) return found->folder;
  std::string steps;
  for (const auto& checkpoint : all) steps += fmt::format("{}{}", steps.empty() ? "" : ", ", checkpoint.step);
  input_error("--checkpoint {}: {} has no such checkpoint; it has those of steps {}", which, run.string(),
              steps);
}

// Before a model is made for labels that the run did not have.
void check_labels(const OpenCheckpoint& checkpoint, const DatasetInfo& data, const fs::path& folder) {
  const bool guesses_pieces = checkpoint.tensors.find("model.cls.predictions.bias") != nullptr;
  if (data.labels == LabelKind::none && !guesses_pieces)
    input_error("{}: has no labels to score against", folder.string());
  if (data.labels != LabelKind::none && guesses_pieces)
    input_error("{}: it has labels, and the model guesses masked words; prepare it without --label",
                folder.string());
}

}  // namespace

CheckpointModel load_checkpoint_model(const fs::path& run, const std::string& which, const DatasetInfo& data,
                                      const fs::path& folder) {
  TrainOptions options = read_run_options(run);
  const OpenCheckpoint checkpoint = open_checkpoint(find_checkpoint(run, which));
  options.lstm.word_vectors.clear();  // they were read when the run began
  // Evaluated as a model that was kept is: by our own loops, whatever it learnt on.
  options.device = "cpu";
  options.kernels = "fused";
  options.precision = "float32";
  check_labels(checkpoint, data, folder);
  CheckpointModel result{
      checkpoint.step, {data.labels, data.classes, data.tokenizer, {}, options.max_length}, nullptr};
  try {
    if (checkpoint.state.at("data").at("vocabulary") != data.tokenizer.vocabulary_hash)
      input_error("{}: the run was trained with another vocabulary than the data set's",
                  checkpoint.folder.string());
    if (result.task.guesses_pieces()) load_pieces(result.task, folder);
    result.learner = make_learner(options, result.task);
    result.learner->load_state(checkpoint.tensors, checkpoint.state.at("learner"));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& problem) {
    input_error("{}: its state is not one of this program: {}", checkpoint.folder.string(), problem.what());
  }
  return result;
}

}  // namespace paceline
