// Who takes which grain. A pure function of measurements: no clock, no thread, no message.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/launch/counter.h"

namespace paceline {

// What one worker did in a step, as every worker knows it afterwards.
struct WorkerStep {
  uint64_t grains = 0, tokens = 0;
  double seconds = 0;  // from its first grain's start to its last grain's end; 0: it had none
  // Of the step before, in seconds:
  double own = 0;         // its own part, grains or not: reading and updating
  double exchange = 0;    // of one attempt, from the end of the last worker's grains until all gradients came
  bool was_last = false;  // it was that worker
};

struct PaceOptions {
  std::string policy = "pull";      // even, epoch, interval, pull
  std::vector<unsigned> executors;  // of each worker
  uint64_t interval = 5;            // steps, policy interval
};

// All policies but pull decide alike on every worker from what add() told them, so each worker asks its
// own; pull is asked in one place for all (is_shared).
class Pace : public GrainSource {
 public:
  virtual bool is_shared() const = 0;
  // After every step, in order. epoch: of that step.
  virtual void add(const Work& work, uint64_t epoch, std::span<const WorkerStep> workers) = 0;
};

std::unique_ptr<Pace> make_pace(const PaceOptions& options);

// Grains for each worker so that the slowest ends as early as whole grains allow. grains_per_second: of one
// executor of each worker. A worker gets at least one while there are enough.
std::vector<uint64_t> best_shares(uint64_t grains, std::span<const double> grains_per_second,
                                  std::span<const unsigned> executors);

}  // namespace paceline
