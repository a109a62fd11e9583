// Notices a loss that runs away: a short average against a long one.
#pragma once
#include <nlohmann/json.hpp>

namespace paceline {

// Diverged: for a while the loss has been more than twice its long average, and more than twice what it
// was at the beginning. A few wild steps that recover do not count, since each counts as at most four times
// what was usual.
class DivergenceWatch {
 public:
  static constexpr uint64_t first_steps = 20, quiet_steps = 100;

  // True when the run has diverged. step counts finished steps.
  bool add(uint64_t step, double loss);
  double short_average() const { return short_; }
  double long_average() const { return long_; }
  // The last step at which nothing was wrong: a checkpoint up to here is a good one.
  uint64_t calm_step() const { return calm_step_; }

  nlohmann::ordered_json state() const;
  void load(const nlohmann::json& state);

 private:
  uint64_t seen_ = 0, calm_step_ = 0;
  double start_ = 0, first_ = 0, short_ = 0, long_ = 0;
};

}  // namespace paceline
