// The record of a run while it goes on: events.jsonl, log.txt and what the user is told.
#pragma once
#include "base/events/events.h"
#include "base/log.h"
#include "base/progress.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/train/run.h"
#include "engine/train/teamwork.h"
#include "engine/train/weight_sketch.h"

namespace paceline {

// What one step found out, besides the position.
struct StepFacts {
  uint64_t epoch = 0, samples = 0, tokens = 0, attempts = 1;
  double loss = 0, learning_rate = 0, gradient_norm = 0;
  std::optional<double> masked_accuracy;  // where masked pieces are guessed
  std::vector<GrainTrace> grains;         // who computed which, and when
  std::vector<WorkerStep> workers;
};

// A disk that is full does not end a run: what cannot be written is counted and told. One thread calls it.
// Workers other than rank 0 record nothing.
class Record {
 public:
  // Writes what the run is; a resumed run's record is continued.
  Record(const Run& run, Progress& progress);

  void step(const StepFacts& facts, const StepSeconds& seconds);
  // Where every worker's time went in the step recorded last, whose event is written only then.
  void workers_of_step(const std::vector<StepSeconds>& seconds);
  void evaluation(const Scores& scores, const std::vector<std::string>& best_for, double seconds);
  void weights(const std::vector<TensorSketch>& sketches);
  void model();
  void resources();
  void checkpoint(const CheckpointReport& report);
  // Something went wrong and the run goes on; the user sees it.
  void fault(const char* kind, uint64_t step, const std::string& reason);
  void say(const std::string& sentence);
  void end_done(double seconds, const std::string& status, const std::string& reason);
  void end_early(const char* status, const std::string& reason);

 private:
  void begin();
  void add(std::string_view kind, const nlohmann::ordered_json& fields);
  void add_timeline(const StepFacts& facts);
  void add_held_step();
  bool is_recorded(uint64_t step) const;
  const Run& run_;
  Progress& progress_;
  std::optional<EventLog> events_;
  RunLog log_;
  nlohmann::ordered_json held_step_;  // an event that waits for the other workers' times
  uint64_t lost_ = 0;
  double smooth_loss_ = 0, smooth_accuracy_ = 0;
};

}  // namespace paceline
