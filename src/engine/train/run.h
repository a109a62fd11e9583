// A training run, opened and checked: everything that the loop works on.
#pragma once
#include "base/executors.h"
#include "engine/model/learner.h"
#include "engine/pace/crew.h"
#include "engine/train/divergence.h"
#include "engine/train/joining.h"
#include "engine/train/run_folder.h"
#include "engine/train/schedule.h"
#include "engine/train/stopping.h"

namespace paceline {

// Where a run is: all that steps and evaluations change, besides the learner.
struct Position {
  uint64_t step = 0, samples = 0, tokens = 0;  // finished
  uint64_t evaluated_step = 0;                 // of the last evaluation
  double loss = 0;                             // of the last step
  uint64_t best_step = 0;                      // of the model that is kept
  std::string model_hash;                      // of its weights; empty: none is kept yet
  bool model_unsaved = false;                  // a better one was found, and could not be saved
};

struct WorkerFacts {
  std::string host, kernels;
  unsigned executors = 1;
  uint64_t probe = 0;              // hash of a grain's gradient: the kernel class
  std::string network_stack = {};  // the same for workers that reach each other by 127.0.0.1
  std::string processor = {};      // model of the CPU
};

struct Run {
  TrainOptions options;  // steps resolved
  DatasetInfo data;
  Task task;
  Schedule schedule;
  Stopping stopping{StoppingRule{}};
  Stopping stopping_before{StoppingRule{}};  // the evaluation whose model could not be saved
  DivergenceWatch divergence;
  Position position;
  std::unique_ptr<Executors> executors;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<Batches> batches;
  std::unique_ptr<RunFolder> folder;  // rank 0 alone has it
  std::vector<WorkerFacts> workers;
  std::unique_ptr<Crew> crew;
  Joining joining;
  double speed = 1;  // share of its speed that this worker uses (--slow)
  std::optional<uint64_t> resumed_from;
  std::vector<std::string> remarks;  // what the user should know about the resumption

  const SplitInfo& train_split() const { return *data.find_split("train"); }
  bool has_valid() const;
  bool evaluation_is_due() const;  // at this position, and not yet made
  bool has_ended() const { return position.step >= options.steps || stopping.should_stop(); }
  // Nothing is left to do, and the model is there: as rank 0 found it at the start.
  bool was_complete = false;
};

// Checks everything on every worker before the folder is made or changed. Throws InputError.
Run open_run(const TrainOptions& options, Exchange& exchange);

// The recorded options, key by key.
nlohmann::ordered_json config_json(const TrainOptions& options);
std::string config_yaml(const TrainOptions& options);

}  // namespace paceline
