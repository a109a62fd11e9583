// interval: shares with which the last few steps would have been the shortest, looked at every few steps, or
// at once when a worker's speed has jumped; even at first.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/pace/cost_record.h"
#include "engine/pace/shares.h"
#include "engine/pace/tails.h"

namespace paceline {
namespace {

// Shares change for a gain beyond this, and beyond what it may be off by.
constexpr double least_gain = 0.02;
// Every so many steps a worker whose share is nothing gets a grain, or its speed would never be known again.
constexpr uint64_t steps_between_probes = 64;

// What is known of the workers. Not their mean speeds alone: a worker whose steps differ much must not be
// given a grain that ends just in time on average, and one that is a little noisy may.
struct LastSteps {
  std::vector<std::vector<double>> speeds;  // of each step, of each worker: tokens a second of an executor
  std::vector<double> usual;                // the same of all these steps together; 0: not known
  std::vector<double> own;                  // seconds that a worker needs besides grains
};

class Interval : public SharedOut {
 public:
  explicit Interval(const PaceOptions& options)
      : SharedOut(options.executors),
        interval_(std::max<uint64_t>(1, options.interval)),
        records_(options.executors.size()),
        own_records_(options.executors.size()),
        tails_(options.executors.size()) {}

  void add(const Work& work, uint64_t, std::span<const WorkerStep> workers) override {
    PACELINE_ASSERT(workers.size() == records_.size());
    ++steps_;
    tails_.add(workers);
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
    return known_.usual.empty() ? even_shares(work.grains, executors().size())
                                : shortest(least, work, known_);
  }

  // Seconds in the unit of shares over speeds, which are tokens a second.
  static std::vector<double> in_grains(std::vector<double> seconds, const Work& work) {
    const double tokens = static_cast<double>(std::max<uint64_t>(1, work.tokens));
    for (double& each : seconds) each *= static_cast<double>(work.grains) / tokens;
    return seconds;
  }

  LastSteps last_steps() const {
    LastSteps last;
    size_t count = 1;
    for (const CostRecord& record : records_) {
      count = std::max(count, record.costs().size());
      last.usual.push_back(record.cost() > 0 ? 1 / record.cost() : 0);
    }
    for (size_t worker = 0; worker < own_records_.size(); ++worker)
      last.own.push_back(own_records_[worker].cost() + tails_.beyond_others(worker));
    for (size_t ago = 1; ago <= count; ++ago) {
      last.speeds.emplace_back();
      for (const CostRecord& record : records_) {
        const auto& costs = record.costs();
        // One that knows fewer steps, since its speed has changed, goes through them again.
        last.speeds.back().push_back(costs.empty() ? 0
                                                   : 1 / costs[costs.size() - 1 - (ago - 1) % costs.size()]);
      }
    }
    return last;
  }

  // What each of these steps would have taken. own: last.own in grains.
  std::vector<double> seconds_of(std::span<const uint64_t> shares, const LastSteps& last,
                                 std::span<const double> own) const {
    std::vector<double> seconds;
    for (const auto& speeds : last.speeds) seconds.push_back(step_seconds(shares, speeds, executors(), own));
    return seconds;
  }

  // From the shares that would be best if every step were as usual, by moving a round of grains away from
  // whoever is the last most often, as long as that helps.
  std::vector<uint64_t> shortest(uint64_t least, const Work& work, const LastSteps& last) const {
    const std::vector<double> own = in_grains(last.own, work);
    std::vector<uint64_t> best = best_shares_of_at_least(least, work.grains, last.usual, executors(), own);
    double seconds = middle_mean(seconds_of(best, last, own));
    for (bool improved = true; improved;) {
      improved = false;
      const std::vector<uint64_t> before = best;
      const size_t from = last_most_often(before, last, own);
      if (before[from] <= least) break;
      const uint64_t round = (before[from] - 1) % executors()[from] + 1,
                     moved = std::min(round, before[from] - least);
      for (size_t to = 0; to < before.size(); ++to) {
        if (to == from) continue;
        std::vector<uint64_t> shares = before;
        shares[from] -= moved;
        shares[to] += moved;
        const double then = middle_mean(seconds_of(shares, last, own));
        if (then >= seconds) continue;
        seconds = then;
        best = std::move(shares);
        improved = true;
      }
    }
    return best;
  }

  size_t last_most_often(std::span<const uint64_t> shares, const LastSteps& last,
                         std::span<const double> own) const {
    std::vector<size_t> times(shares.size(), 0);
    for (const auto& speeds : last.speeds) ++times[slowest_of(shares, speeds, executors(), own).worker];
    return static_cast<size_t>(std::ranges::max_element(times) - times.begin());
  }

  void look(const Work& work) {
    LastSteps last = last_steps();
    const std::vector<double> own = in_grains(last.own, work),
                              now = seconds_of(shares_of_at_least(0, work), last, own),
                              then = seconds_of(shortest(0, work, last), last, own);
    const double shortened = middle_mean(then);
    if (middle_mean(now) - shortened <= least_gain * shortened + doubt(now, then)) return;
    known_ = std::move(last);
  }

  // How far the gain may be off. The same steps with other shares, so what all of them share does not count.
  double doubt(std::span<const double> now, std::span<const double> then) const {
    constexpr size_t few = 3;
    size_t fewest = now.size();
    double uncertainty = 0;
    for (const CostRecord& record : records_) {
      if (record.costs().empty()) continue;  // nothing is known that could be doubted
      fewest = std::min(fewest, record.costs().size());
      uncertainty = std::max(uncertainty, record.uncertainty());
    }
    if (fewest <= few) return 2 * uncertainty * middle_mean({then.begin(), then.end()});
    std::vector<double> gains, off;
    for (size_t i = 0; i < now.size(); ++i) gains.push_back(now[i] - then[i]);
    const double gain = middle_mean(gains);
    for (double each : gains) off.push_back(std::abs(each - gain));
    return 2 * middle_mean(std::move(off)) / std::sqrt(static_cast<double>(fewest));
  }

  uint64_t interval_, steps_ = 0;
  std::vector<CostRecord> records_, own_records_;
  Tails tails_;
  LastSteps known_;  // that the shares are from
};

}  // namespace

std::unique_ptr<Pace> make_interval(const PaceOptions& options) {
  return std::make_unique<Interval>(options);
}

}  // namespace paceline
