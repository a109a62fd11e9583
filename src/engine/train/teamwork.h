// A step's grains, computed by all workers together, and what they tell each other about it.
#pragma once
#include "engine/model/learner.h"
#include "engine/pace/crew.h"
#include "engine/train/joining.h"
#include "engine/train/step_meter.h"

namespace paceline {

class Outbox;

struct GrainTrace {
  unsigned worker = 0, executor = 0;
  double begin = 0, end = 0;  // seconds since the workers ended the step before
};

// What everyone knows after an attempt.
struct StepTogether {
  GrainLoss total;
  std::vector<GrainTrace> grains;
  std::vector<WorkerStep> workers;
  std::vector<StepSeconds> before;  // where each worker's time went in the step before
  int signal = 0;                   // one worker's, asking all to leave
  bool out_of_time = false;         // by the clock of rank 0
};

class Teamwork {
 public:
  // joining: how many grains an executor computes at once. exchange: false leaves gradients where they are,
  // for measuring. speed: the share of its own that this worker uses.
  Teamwork(Crew& crew, Learner& learner, Executors& executors, const Joining& joining, bool exchange,
           double speed = 1);
  ~Teamwork();

  // Computes this worker's grains, exchanges, and returns when all is there; the caller then asks the
  // learner whether the attempt holds. The meter learns of computing, waiting and exchanging.
  StepTogether compute(const Batch& batch, uint32_t attempt, const std::function<bool()>& out_of_time,
                       StepMeter& meter);
  // This worker's parts of the step that has ended, told to all with the next one; attempts: all of which
  // exchanged.
  void end_step(const StepSeconds& seconds, uint64_t attempts) {
    last_ = seconds;
    last_attempts_ = static_cast<double>(attempts);
  }
  // Told to all now.
  std::vector<StepSeconds> exchange_seconds();

 private:
  struct Numbers;  // what an attempt's workers tell each other
  void compute_grains(const Batch& batch, const Work& work, Numbers& numbers);
  void note(const Batch& batch, uint64_t first, std::span<const GrainLoss> losses, double begin,
            unsigned executor, Numbers& numbers) const;
  void exchange(Numbers& numbers, StepMeter& meter);
  void note_parts_before(StepTogether& out) const;
  StepTogether read(const Batch& batch, const Numbers& numbers) const;
  uint32_t ticks(double time) const;

  Crew& crew_;
  Learner& learner_;
  Executors& executors_;
  Joining joining_;
  std::unique_ptr<Outbox> outbox_;
  double speed_;
  StepSeconds last_;
  double last_attempts_ = 1;
  double reference_;  // when all workers had ended the step before, by the common clock
};

}  // namespace paceline
