// How many words a text has.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace paceline {

class Lengths {
 public:
  static constexpr uint64_t default_median = 40, fewest = 3, most = 20000;

  // "": a long tail around the default median; "25": around another; "3-8": each of these equally often.
  // Throws InputError that says what is allowed.
  explicit Lengths(std::string_view option);
  uint64_t draw(RandomStream& random) const;
  // About the mean, for sizing buffers.
  uint64_t typical() const { return median_ > 0 ? 2 * median_ : (low_ + high_) / 2; }

 private:
  uint64_t median_ = default_median, low_ = 0, high_ = 0;  // median_ 0: uniform
};

}  // namespace paceline
