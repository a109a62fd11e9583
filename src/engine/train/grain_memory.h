// Whether the grains of a run fit into memory, known before the first one is computed.
#pragma once
#include <functional>

#include "engine/api/options.h"
#include "engine/model/learner.h"
#include "engine/train/joining.h"

namespace paceline {

// Bytes that one executor needs for so many tokens and samples at once.
using GrainBytes = std::function<uint64_t(uint64_t tokens, uint64_t samples)>;

bool grains_fit(const TrainOptions& options, uint64_t longest, unsigned executors, uint64_t usable,
                const GrainBytes& bytes);

// longest: tokens of the longest text that is used; usable: bytes, 0 when unknown. Throws InputError that
// names a value that fits.
void check_grain_memory(const TrainOptions& options, uint64_t longest, unsigned executors, uint64_t usable,
                        const GrainBytes& bytes);

// Grains up to what is wanted, and up to fewer tokens than grain_tokens where those would not fit: joining
// spares time, and never refuses a run.
Joining joining_that_fits(const AtOnce& wanted, uint64_t grain_tokens, unsigned executors, uint64_t usable,
                          const GrainBytes& bytes);

}  // namespace paceline
