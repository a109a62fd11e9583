// Whether this machine can multiply what --precision names: tried, never believed.
#pragma once
#include "engine/api/options.h"

namespace paceline {

// Throws InputError that says what to do where a product of bfloat16 dies or is wrong.
void check_precision(const TrainOptions& options);

}  // namespace paceline
