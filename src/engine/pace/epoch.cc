// epoch: shares from the speeds of the last whole epoch; even in the first one. That an epoch is over shows
// with the first step of the next, so shares change from its second step on.
#include "base/error.h"
#include "engine/pace/cost_record.h"
#include "engine/pace/shares.h"

namespace paceline {
namespace {

// The mean of seconds per token over an epoch, deaf to a worker that was held up in a step: it is no slow
// worker. Of a few steps at a time, since epochs may have millions.
class EpochCost {
 public:
  void add(double cost) {
    few_.push_back(cost);
    if (few_.size() == at_a_time) fold();
  }
  // 0: there was none. Begins anew.
  double take() {
    fold();
    const double mean = steps_ == 0 ? 0 : sum_ / static_cast<double>(steps_);
    *this = {};
    return mean;
  }

 private:
  static constexpr size_t at_a_time = 16;

  void fold() {
    if (few_.empty()) return;
    sum_ += middle_mean(few_) * static_cast<double>(few_.size());
    steps_ += few_.size();
    few_.clear();
  }

  std::vector<double> few_;
  double sum_ = 0;
  uint64_t steps_ = 0;
};

class Epoch : public SharedOut {
 public:
  explicit Epoch(const std::vector<unsigned>& executors) : SharedOut(executors), costs_(executors.size()) {}

  void add(const Work&, uint64_t epoch, std::span<const WorkerStep> workers) override {
    PACELINE_ASSERT(workers.size() == costs_.size());
    if (started_ && epoch != epoch_) end_epoch();
    epoch_ = epoch;
    started_ = true;
    for (size_t worker = 0; worker < workers.size(); ++worker) {
      const double speed = executor_speed(workers[worker], executors()[worker]);
      if (speed > 0) costs_[worker].add(1 / speed);
    }
  }

 protected:
  std::vector<uint64_t> shares(const Work& work) const override {
    return speeds_.empty() ? even_shares(work.grains, executors().size())
                           : best_shares(work.grains, speeds_, executors());
  }

 private:
  void end_epoch() {
    speeds_.resize(costs_.size(), 0);
    for (size_t worker = 0; worker < costs_.size(); ++worker)
      if (const double cost = costs_[worker].take(); cost > 0) speeds_[worker] = 1 / cost;
  }

  std::vector<EpochCost> costs_;
  std::vector<double> speeds_;  // of the last epoch; a worker without a grain keeps its own
  uint64_t epoch_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Pace> make_epoch(const PaceOptions& options) {
  return std::make_unique<Epoch>(options.executors);
}

}  // namespace paceline
