// What a token costs one executor now, from its last few grains.
#pragma once
#include <algorithm>
#include <cmath>

namespace paceline {

class ExecutorSpeed {
 public:
  // cost: seconds per token of the grain that ended now; anything but a positive number is no measurement.
  void add(double cost, double now) {
    if (!(cost > 0) || !std::isfinite(cost)) return;
    // Half of the newest: a change is followed within a few grains. One hiccup counts for four grains at
    // most.
    cost_ = is_known() ? (cost_ + std::min(cost, 4 * cost_)) / 2 : cost;
    measured_ = now;
  }
  bool is_known() const { return cost_ > 0; }
  double cost() const { return cost_; }
  double measured() const { return measured_; }

 private:
  double cost_ = 0, measured_ = 0;
};

}  // namespace paceline
