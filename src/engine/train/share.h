// What rank 0 alone may have on its disk, handed to the other workers at the start.
#pragma once
#include "cluster/exchange/exchange.h"
#include "engine/train/run.h"

namespace paceline {

// A resumed run's options are those that rank 0 read from its folder; otherwise everyone's own.
TrainOptions share_options(const TrainOptions& options, Exchange& exchange);

// The position and the learner's state of rank 0, when they are not what every worker begins with.
void share_state(Run& run, Exchange& exchange);

}  // namespace paceline
