#include "engine/train/joining.h"

#include <algorithm>

namespace paceline {

uint32_t Joining::grains_at_once(const Batch& batch) const {
  const uint64_t all = std::max<uint64_t>(1, batch.samples.size());
  uint64_t largest = 1;
  for (uint64_t g = 0; g < batch.grains(); ++g) largest = std::max(largest, batch.tokens_of(g));
  const uint64_t wanted = (samples * batch.grains() + all / 2) / all;
  return static_cast<uint32_t>(std::max<uint64_t>(1, std::min(wanted, tokens / largest)));
}

}  // namespace paceline
