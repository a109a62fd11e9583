// Which checkpoints are complete, and which of them have had their day.
#pragma once
#include <vector>

#include "engine/checkpoint/checkpoint.h"

namespace paceline {

// Ascending by step, best_for as their manifests claim it.
std::vector<CheckpointInfo> complete_checkpoints(const fs::path& folder);

// Of those up to the step just saved, the latest `keep` (at least that one) and each metric's newest
// holder stay. Later ones stay too: a run that went back to an older checkpoint replaces them when it
// gets there.
std::vector<uint64_t> superseded(const std::vector<CheckpointInfo>& complete, uint64_t saved, uint64_t keep);

}  // namespace paceline
