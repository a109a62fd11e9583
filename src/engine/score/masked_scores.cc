#include "base/portable_math.h"
#include "engine/score/scores.h"

namespace paceline {

Scores masked_scores(uint64_t samples, uint64_t pieces, uint64_t right, double loss) {
  const double mean = loss / static_cast<double>(pieces);
  Scores scores;
  scores.samples = samples;
  scores.mean_loss = mean;
  scores.masked = {pieces, static_cast<double>(right) / static_cast<double>(pieces), portable_exp(mean)};
  return scores;
}

}  // namespace paceline
