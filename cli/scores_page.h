// How scores are shown to a person.
#pragma once
#include <optional>
#include <string>

#include "engine/score/scores.h"

namespace paceline::cli {

// The model beside the null classifier (and a baseline), scores by class, the confusion matrix, notes.
std::string scores_page(const Scores& scores, const std::optional<Scores>& baseline);

// Two models beside each other, as a whole and by class, with what changed from the first to the second.
std::string comparison_page(const std::string& first_name, const Scores& first,
                            const std::string& second_name, const Scores& second);

}  // namespace paceline::cli
