// Scores by name, for what chooses among models.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/score/scores.h"

namespace paceline {

// The metrics that a run can be steered by, named as in the JSON of scores.
const std::vector<std::string>& metric_names();
// Absent where it is undefined.
std::optional<double> metric(const Scores& scores, const std::string& name);
bool larger_is_better(const std::string& name);
// Whether it exists for labels, or for classes.
bool metric_exists(const std::string& name, bool multi_label);

}  // namespace paceline
