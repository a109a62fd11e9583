// How many grains an executor computes at once. It is a matter of speed alone: the bits are the same.
#pragma once
#include "data/batch/batch.h"

namespace paceline {

// Beyond this a pass gains nothing more, and the memory that it goes through grows.
constexpr uint64_t most_joined_tokens = 8192;

struct Joining {
  uint64_t samples = 1;  // that the learner likes to have at once
  uint64_t tokens = 0;   // never more than these, but for a single grain

  uint32_t grains_at_once(const Batch& batch) const;
};

}  // namespace paceline
