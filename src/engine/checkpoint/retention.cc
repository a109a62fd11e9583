#include "engine/checkpoint/retention.h"

#include <set>

#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/step_folder.h"

namespace paceline {

std::vector<CheckpointInfo> complete_checkpoints(const fs::path& folder) {
  std::vector<CheckpointInfo> complete;
  for (uint64_t step : steps_in(folder)) {
    const fs::path checkpoint = folder / step_name(step);
    try {
      complete.push_back({step, checkpoint, read_manifest(checkpoint).best_for});
    } catch (const std::runtime_error&) {
      continue;  // not complete, or not ours to read
    }
  }
  return complete;
}

std::vector<uint64_t> superseded(const std::vector<CheckpointInfo>& complete, uint64_t saved, uint64_t keep) {
  std::vector<uint64_t> out;
  std::set<std::string> held;  // metrics that a later checkpoint holds
  uint64_t kept = 0;
  for (auto at = complete.rbegin(); at != complete.rend(); ++at) {
    if (at->step > saved) continue;
    bool stays = kept < std::max<uint64_t>(keep, 1);
    for (const auto& metric : at->best_for) stays |= held.insert(metric).second;
    if (stays)
      ++kept;
    else
      out.push_back(at->step);
  }
  return out;
}

}  // namespace paceline
