// Cross-entropy of a softmax over many classes, such as the words of a vocabulary. Bits depend on the row
// alone.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paceline {

struct RowLoss {
  double loss;  // -log of the truth's probability
  bool right;   // the truth has the largest logit, or is the first of those
};

// truth < count. The logits become the gradient of the loss.
RowLoss cross_entropy(size_t count, uint32_t truth, float* logits);

}  // namespace paceline
