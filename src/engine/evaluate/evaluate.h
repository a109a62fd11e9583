// Scores a model on a split.
#pragma once
#include <functional>

#include "base/executors.h"
#include "base/progress.h"
#include "engine/model/model.h"
#include "engine/pace/crew.h"
#include "engine/score/scores.h"

namespace paceline {

// Probabilities of logits: softmax, or one sigmoid a class when multi-label.
void to_probabilities(std::span<float> values, bool multi_label);

// Told of every sample of a split in order: its row, the sample, the probability of each class.
using SampleListener = std::function<void(uint64_t row, const Sample& sample, std::span<const float> scores)>;

// A model without classes guesses masked pieces: each row's are chosen by its number, alike for all models,
// and the listener is not told.
// The result does not depend on the number of executors, nor on that of workers. crew: who share the work
// and all get the result; nullptr: this process alone. number: told apart from other evaluations by it.
Scores evaluate_split(const Model& model, const Task& task, const fs::path& folder, const DatasetInfo& data,
                      const std::string& split, Executors& executors, Progress& progress,
                      Crew* crew = nullptr, uint64_t number = 0, const SampleListener& listener = {});

}  // namespace paceline
