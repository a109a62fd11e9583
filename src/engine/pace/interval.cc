// interval: shares from the speeds of the last few steps, looked at every few steps, or at once when a
// worker's speed has jumped; even at first.
#include <algorithm>

#include "base/error.h"
#include "engine/pace/cost_record.h"
#include "engine/pace/shares.h"

namespace paceline {
namespace {

// Shares change for a gain beyond this, and beyond twice what the speeds may be off by.
constexpr double least_gain = 0.02;
// Every so many steps a worker whose share is nothing gets a grain, or its speed would never be known again.
constexpr uint64_t steps_between_probes = 64;

class Interval : public SharedOut {
 public:
  explicit Interval(const PaceOptions& options)
      : SharedOut(options.executors),
        interval_(std::max<uint64_t>(1, options.interval)),
        records_(options.executors.size()),
        own_records_(options.executors.size()) {}

  void add(const Work& work, uint64_t, std::span<const WorkerStep> workers) override {
    PACELINE_ASSERT(workers.size() == records_.size());
    ++steps_;
    bool jumped = false;
    for (size_t worker = 0; worker < workers.size(); ++worker) {
      if (workers[worker].own > 0) own_records_[worker].add(workers[worker].own);
      const double speed = executor_speed(workers[worker], executors()[worker]);
      if (speed == 0) continue;
      records_[worker].add(1 / speed);
      jumped = jumped || records_[worker].has_jumped();
    }
    if (steps_ % interval_ == 0 || (jumped && steps_ > interval_)) look(work);
  }

 protected:
  std::vector<uint64_t> shares(const Work& work) const override {
    return shares_of_at_least(steps_ % steps_between_probes == 0 ? 1 : 0, work);
  }

 private:
  std::vector<uint64_t> shares_of_at_least(uint64_t least, const Work& work) const {
    return speeds_.empty()
               ? even_shares(work.grains, executors().size())
               : best_shares_of_at_least(least, work.grains, speeds_, executors(), in_grains(own_, work));
  }

  // Seconds in the unit of shares over speeds, which are tokens a second.
  static std::vector<double> in_grains(std::vector<double> seconds, const Work& work) {
    const double tokens = static_cast<double>(std::max<uint64_t>(1, work.tokens));
    for (double& each : seconds) each *= static_cast<double>(work.grains) / tokens;
    return seconds;
  }

  void look(const Work& work) {
    std::vector<double> speeds, own;
    for (const CostRecord& record : own_records_) own.push_back(record.cost());
    const std::vector<double> delays = in_grains(own, work);
    double uncertainty = 0;
    for (const CostRecord& record : records_) {
      // What a worker can be relied upon: one whose steps differ much must not be given a grain that ends
      // just in time on average.
      speeds.push_back(record.cost() > 0 ? 1 / (record.cost() * (1 + record.noise())) : 0);
      uncertainty = std::max(uncertainty, record.uncertainty());
    }
    const auto better = best_shares_of_at_least(0, work.grains, speeds, executors(), delays);
    const double seconds = step_seconds(shares_of_at_least(0, work), speeds, executors(), delays);
    const double then = step_seconds(better, speeds, executors(), delays);
    if (seconds <= then * (1 + least_gain + 2 * uncertainty)) return;
    speeds_ = std::move(speeds);
    own_ = std::move(own);
  }

  uint64_t interval_, steps_ = 0;
  std::vector<CostRecord> records_, own_records_;
  std::vector<double> speeds_, own_;  // that the shares are from
};

}  // namespace

std::unique_ptr<Pace> make_interval(const PaceOptions& options) {
  return std::make_unique<Interval>(options);
}

}  // namespace paceline
