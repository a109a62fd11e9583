// How the learning rate goes on over the steps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

namespace paceline {

struct Schedule {
  std::string kind = "linear";  // constant, or linear down to zero at the last step
  double peak = 0.1;
  uint64_t warmup = 0, steps = 1;

  double at(uint64_t step) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    if (kind == "constant") return peak;
    const double left = static_cast<double>(steps - std::min(step, steps));
    return peak * left / static_cast<double>(std::max<uint64_t>(1, steps - warmup));
  }
};

}  // namespace paceline
