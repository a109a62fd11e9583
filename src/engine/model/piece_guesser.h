// What evaluate and predict need of a model that guesses masked pieces.
#pragma once
#include "engine/model/learner.h"

namespace paceline {

class PieceGuesser {
 public:
  virtual ~PieceGuesser() = default;
  // Pieces of which it gives probabilities, by their ids.
  virtual size_t pieces() const = 0;
  // Masks each text by its key (choose_masked, single pieces): the sum of the losses of the masked pieces,
  // their number, and how many of them it has right. A text's bits do not depend on the texts beside it.
  // Safe for several threads.
  virtual void guess(std::span<const Text> texts, std::span<const uint64_t> keys,
                     std::span<GrainLoss> out) const = 0;
  // One row of pieces() probabilities for each position of the text, which is shown as it is. Safe for
  // several threads.
  virtual void probabilities(const Text& text, std::span<const uint32_t> positions,
                             std::span<float> out) const = 0;
};

}  // namespace paceline
