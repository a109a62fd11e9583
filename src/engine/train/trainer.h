// The training loop. It knows grains, steps and epochs, but no model.
#pragma once
#include "base/progress.h"
#include "engine/api/engine.h"

namespace paceline {

// Everything is checked before the run's folder is made. Throws InputError or WorkError.
TrainResult train(const TrainOptions& options, Exchange& exchange, Progress& progress);

}  // namespace paceline
