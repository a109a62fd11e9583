// Weights of classes in the loss, from what the user wrote.
#pragma once
#include <string>
#include <vector>

#include "data/dataset/info.h"

namespace paceline {

// "none": empty; "balanced": rows / (classes * rows of the class), or negatives / positives when
// multi-label; otherwise numbers in the order of the classes. Throws InputError.
std::vector<float> class_weights(const std::string& text, const DatasetInfo& data, const SplitInfo& split);

}  // namespace paceline
