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
// What is scored: classifiers of one class or of any number of labels, or guesses of masked pieces.
enum class ScoreKind { classes, labels, masked_pieces };
bool metric_exists(const std::string& name, ScoreKind kind);
// For messages: "where a text has one class", and the names of those that there are.
std::string where_metric_exists(const std::string& name);
std::string metrics_of(ScoreKind kind);

}  // namespace paceline
