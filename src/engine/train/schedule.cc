#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace paceline {
namespace {

// A Taylor series for |x| <= pi / 4, whose terms alternate: x^first / first! - x^(first + 2) / ...
double alternating_series(double x, int first) {
  double term = first == 0 ? 1 : x, sum = term;
  for (int i = first + 2; i <= 20; i += 2) {
    term *= -x * x / static_cast<double>(i * (i - 1));
    sum += term;
  }
  return sum;
}

// cos(pi * x) for 0 <= x <= 1: libm's may differ from machine to machine.
double cosine_of_turn(double x) {
  if (x > 0.5) return -cosine_of_turn(1 - x);
  if (x > 0.25) return alternating_series(std::numbers::pi * (0.5 - x), 1);
  return alternating_series(std::numbers::pi * x, 0);
}

}  // namespace

double Schedule::at(uint64_t step) const {
  const double number = static_cast<double>(step + 1), rise = static_cast<double>(warmup);
  if (step < warmup) return peak * number / rise;
  if (kind == "constant") return peak;
  if (kind == "noam") return peak * std::sqrt(std::max(1.0, rise) / number);
  const double left = static_cast<double>(steps - std::min(step, steps));
  const double length = static_cast<double>(std::max<uint64_t>(1, steps - std::min(warmup, steps)));
  if (kind == "cosine") return peak * 0.5 * (1 + cosine_of_turn(1 - std::min(1.0, left / length)));
  return peak * left / length;
}

}  // namespace paceline
