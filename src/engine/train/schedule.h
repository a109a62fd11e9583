// How the learning rate goes on over the steps.
#pragma once
#include <cstdint>
#include <string>

namespace paceline {

// All kinds rise linearly over the warm-up. Then constant stays; linear and cosine go down to zero
// behind the last step; noam falls with the square root of the step. The same bits on every machine.
struct Schedule {
  std::string kind = "linear";
  double peak = 0.1;
  uint64_t warmup = 0, steps = 1;

  // step counts from 0.
  double at(uint64_t step) const;
};

}  // namespace paceline
