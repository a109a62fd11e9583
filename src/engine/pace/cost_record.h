// What one worker's tokens have cost lately.
#pragma once
#include <cstddef>
#include <deque>
#include <vector>

namespace paceline {

// The mean of the middle half: as good as a mean for even noise, and deaf to a single hiccup.
double middle_mean(std::vector<double> values);

// Costs (seconds per token) since the last change of speed, as far as a window reaches; a single one that is
// many times as high tells nothing, for a worker that was held up is no slow worker. Without functions of the
// C library, whose last bit differs between machines: all workers must come to the same shares.
class CostRecord {
 public:
  void add(double cost);
  // Whether a change of speed made it forget what was before, a few costs ago at most.
  bool has_jumped() const { return has_jumped_ && costs_.size() <= 4; }
  // 0: nothing known.
  double cost() const { return cost_; }
  // Those that it goes by, the newest last.
  const std::deque<double>& costs() const { return costs_; }
  // How far one step's cost lies from the one before, relative to cost().
  double noise() const;
  // How far cost() may be off, relative to it: the noise from step to step over the root of their number.
  double uncertainty() const;

 private:
  void forget(const std::vector<double>& all_but);
  std::deque<double> costs_;
  double cost_ = 0, noise_before_ = 0.05;  // before the last change of speed
  bool has_jumped_ = false, was_odd_ = false;
};

}  // namespace paceline
