// Scores as integers in the same order, so that they can be counted in bins.
#pragma once
#include <cstdint>

namespace paceline {

// A whole number per float, larger for a larger score, equal for equal ones (-0 and 0 too). Its steps
// are a float's steps from 0 up to one half, and those of 1 - score from one half up to 1: a bin of
// neighbouring numbers is fine near 0 and equally fine near 1, where the scores of sure models gather.
// The score must not be NaN.
int64_t score_order(float score);

// The smallest score whose score_order() is at least order; beyond all of them, infinity.
float score_from(int64_t order);

}  // namespace paceline
