// How scores are shown to a person.
#pragma once
#include <optional>
#include <string>

#include "engine/score/scores.h"

namespace paceline::cli {

// The model beside the null classifier (and a baseline), scores by class, the confusion matrix, notes.
std::string scores_page(const Scores& scores, const std::optional<Scores>& baseline);

}  // namespace paceline::cli
