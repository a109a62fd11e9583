// What it costs that a worker ends last: a slow one takes longer to hand its gradients over, too.
#pragma once
#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "engine/pace/cost_record.h"
#include "engine/pace/pace.h"

namespace paceline {

class Tails {
 public:
  explicit Tails(size_t workers) : records_(workers) {}

  void add(std::span<const WorkerStep> workers) {
    double longest = 0, shortest = 1e300;
    for (const WorkerStep& worker : workers) {
      longest = std::max(longest, worker.exchange);
      shortest = std::min(shortest, worker.exchange);
    }
    if (longest == 0) return;  // there was no step before
    shortest_.push_back(shortest);
    if (shortest_.size() > window) shortest_.pop_front();
    for (size_t worker = 0; worker < workers.size(); ++worker)
      if (workers[worker].was_last) records_[worker].add(longest);
  }

  // Seconds beyond what the exchange takes when another worker ends last, or beyond the shortest one lately
  // while none has.
  double beyond_others(size_t worker) const {
    const double own = records_[worker].cost();
    double others = 1e300;
    for (size_t other = 0; other < records_.size(); ++other)
      if (other != worker && records_[other].cost() > 0) others = std::min(others, records_[other].cost());
    if (others == 1e300 && !shortest_.empty()) others = *std::ranges::min_element(shortest_);
    return std::max(0.0, own - others);
  }

 private:
  static constexpr size_t window = 16;
  std::vector<CostRecord> records_;
  std::deque<double> shortest_;  // of any worker, in each of the last steps
};

}  // namespace paceline
