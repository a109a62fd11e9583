// How many grains an executor computes at once. It is a matter of speed alone: the bits are the same.
#pragma once
#include "data/batch/batch.h"

namespace paceline {

struct Joining {
  uint64_t samples = 1;  // that the learner likes to have at once
  uint64_t tokens = 0;   // never more than these, but for a single grain

  uint32_t grains_at_once(const Batch& batch) const;
};

}  // namespace paceline
