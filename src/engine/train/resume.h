// What it takes to go on with a run in the same bits.
#pragma once
#include "engine/train/run.h"

namespace paceline {

// Throws InputError that names every key whose new value would change the result, with both values.
void check_same_bits(const TrainOptions& now, const TrainOptions& before, const fs::path& run);

// The state of a checkpoint, beside the learner's tensors.
nlohmann::ordered_json run_state(const Run& run);

// Position, stopping and divergence from such a state. Throws when it is not one.
void load_position(const nlohmann::json& state, Run& run);

// Sets the run to its newest readable checkpoint, if there is one; the run's remarks say what was
// wrong with newer ones and whether the schedule changed. Throws InputError for a checkpoint of another
// model or data set.
void load_newest_checkpoint(Run& run);

}  // namespace paceline
