// What a token costs one executor now, from its last few grains.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace paceline {

class ExecutorSpeed {
 public:
  // cost: seconds per token of the grains that ended now, which were computed together; anything but a
  // positive number is no measurement.
  void add(double cost, double now, uint32_t grains = 1) {
    if (!(cost > 0) || !std::isfinite(cost)) return;
    // One that took far longer than usual, alone, was held up: the process was stopped, or the machine slept.
    const bool held_up = is_known() && cost > 2.5 * steady_ && newest_ < 1.6 * steady_;
    // Half of the newest, and one hiccup counts for four grains at most; but two grains that agree are
    // believed at once.
    before_ = is_known() ? newest_ : cost;
    newest_ = cost;
    if (!is_known()) steady_ = cost;
    if (!held_up) steady_ += (std::min(cost, 4 * steady_) - steady_) * (1 - std::pow(7.0 / 8, grains));
    // By much more than machines change: it tells nothing, or it would get no grains for long.
    if (!(held_up && cost > 8 * steady_)) cost_ = is_known() ? (cost_ + std::min(cost, 4 * cost_)) / 2 : cost;
    cost_ = std::clamp(cost_, std::min(newest_, before_), std::max(newest_, before_));
    measured_ = now;
  }
  bool is_known() const { return cost_ > 0; }
  double cost() const { return cost_; }
  // For many grains ahead: a mean over more of the past, unless two grains say that the speed has jumped. The
  // first grains of a step are slower than the others.
  double cost_of_many() const {
    const bool slower = std::min(newest_, before_) > 1.6 * steady_,
               faster = 1.6 * std::max(newest_, before_) < steady_;
    return slower || faster ? cost_ : steady_;
  }
  double measured() const { return measured_; }

 private:
  double cost_ = 0, steady_ = 0, newest_ = 0, before_ = 0, measured_ = 0;
};

}  // namespace paceline
