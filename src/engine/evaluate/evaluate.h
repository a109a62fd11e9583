// Scores a model on a split.
#pragma once
#include "base/executors.h"
#include "base/progress.h"
#include "engine/model/model.h"
#include "engine/pace/crew.h"
#include "engine/score/scores.h"

namespace paceline {

// Probabilities of logits: softmax, or one sigmoid a class when multi-label.
void to_probabilities(std::span<float> values, bool multi_label);

// The result does not depend on the number of executors, nor on that of workers. crew: who share the work
// and all get the result; nullptr: this process alone. number: told apart from other evaluations by it.
Scores evaluate_split(const Model& model, const Task& task, const fs::path& folder, const DatasetInfo& data,
                      const std::string& split, Executors& executors, Progress& progress,
                      Crew* crew = nullptr, uint64_t number = 0);

}  // namespace paceline
