// What it costs that a worker ends last: a slow one takes longer to hand its gradients over, too.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "engine/pace/cost_record.h"
#include "engine/pace/pace.h"

namespace paceline {

class Tails {
 public:
  explicit Tails(size_t workers) : records_(workers), measured_(workers) {}

  void add(std::span<const WorkerStep> workers) {
    double longest = 0, shortest = 1e300;
    for (const WorkerStep& worker : workers) {
      longest = std::max(longest, worker.exchange);
      shortest = std::min(shortest, worker.exchange);
    }
    if (longest == 0) return;  // there was no step before
    ++steps_;
    shortest_.push_back(shortest);
    if (shortest_.size() > window) shortest_.pop_front();
    for (size_t worker = 0; worker < workers.size(); ++worker) {
      if (workers[worker].was_last) {
        records_[worker].add(longest);
        measured_[worker] = steps_;
      } else if (steps_ - measured_[worker] > believed) {
        records_[worker] = {};
      }
    }
  }

  // Seconds beyond what the exchange takes when another worker ends last, or beyond the shortest one lately
  // while none has. 0 unless it is clearly more than what exchanges differ by anyway: over a slow link that
  // is many grains.
  double beyond_others(size_t worker) const {
    const CostRecord& own = records_[worker];
    if (own.cost() == 0) return 0;
    const CostRecord* others = nullptr;
    for (const CostRecord& other : records_)
      if (&other != &own && other.cost() > 0 && (!others || other.cost() < others->cost())) others = &other;
    const double usual = others ? others->cost() : *std::ranges::min_element(shortest_);
    const double noise = std::max({least_noise, own.noise(), others ? others->noise() : 0}),
                 doubt = std::sqrt(variance(own) + (others ? variance(*others) : 1)) * noise;
    const double beyond = own.cost() - usual;
    return beyond > clearly * doubt * usual ? beyond : 0;
  }

 private:
  // Of the mean, relative to that of one exchange.
  static double variance(const CostRecord& record) { return 1 / static_cast<double>(record.costs().size()); }

  static constexpr size_t window = 16;
  // Steps: a worker that is not let end last because of what it once cost would never be seen to cost less.
  static constexpr uint64_t believed = 128;
  static constexpr double clearly = 4;         // standard deviations
  static constexpr double least_noise = 0.05;  // of one exchange to the next: a few tell little
  std::vector<CostRecord> records_;            // of exchanges after this worker ended last
  std::vector<uint64_t> measured_;
  std::deque<double> shortest_;  // of any worker, in each of the last steps
  uint64_t steps_ = 0;
};

}  // namespace paceline
