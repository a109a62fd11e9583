// What a run leaves on disk while it goes on: the best model, and checkpoints.
#pragma once
#include <chrono>

#include "engine/checkpoint/checkpoint.h"
#include "engine/train/record.h"

namespace paceline {

// On rank 0; on the other workers it does nothing, and says that all went well.
class Keeper {
 public:
  Keeper(Run& run, Record& record);

  // Replaces RUN/model by the learner's model. False: it failed (a full disk); that is told, and the
  // model that was there stays.
  bool keep_model();
  // On the other workers, when rank 0 has kept it.
  void note_kept_elsewhere();
  // Why RUN/model is not the best model; empty when it is.
  const std::string& unsaved_model() const { return unsaved_; }

  // A checkpoint of the position, if one is due (evaluated: this step ended with an evaluation) or it
  // is the best for a metric; true when it was. Written in the background.
  bool save_if_due(bool evaluated, const std::vector<std::string>& best_for);
  // A checkpoint of the position unless there is one, on disk when this returns; empty, or why it failed.
  std::string save_now();
  // Writes what became of earlier saves into the record.
  void collect_reports();
  // The newest checkpoint of this step or an earlier one; empty when there is none.
  fs::path good_checkpoint(uint64_t step);

 private:
  using Clock = std::chrono::steady_clock;
  void save(const std::vector<std::string>& best_for);
  Run& run_;
  Record& record_;
  std::optional<CheckpointWriter> writer_;  // rank 0 alone
  Clock::time_point saved_at_ = Clock::now();
  std::optional<uint64_t> saved_step_;
  uint64_t failed_step_ = 0;
  std::string failure_, unsaved_;
};

}  // namespace paceline
