// The model as it was at a checkpoint of a run.
#pragma once
#include "data/dataset/info.h"
#include "engine/model/learner.h"

namespace paceline {

struct CheckpointModel {
  uint64_t step = 0;
  Task task;
  std::unique_ptr<Learner> learner;
};

// which: "last", "best" (for the metric that chose the run's model), or a step. data: what it will be used
// on, in the folder. Throws InputError that names the checkpoints that there are.
CheckpointModel load_checkpoint_model(const fs::path& run, const std::string& which, const DatasetInfo& data,
                                      const fs::path& folder);

}  // namespace paceline
