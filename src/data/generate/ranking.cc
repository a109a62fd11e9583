#include "data/generate/ranking.h"

#include <algorithm>

namespace paceline {

std::optional<Ranking> rank_groups(std::vector<ScoredGroup> groups) {
  double positives = 0, negatives = 0;
  for (const ScoredGroup& group : groups) {
    positives += group.positives;
    negatives += group.negatives;
  }
  if (!(positives > 0 && negatives > 0)) return std::nullopt;
  std::sort(groups.begin(), groups.end(),
            [](const ScoredGroup& a, const ScoredGroup& b) { return a.score > b.score; });
  double won = 0, precision = 0, hits = 0, misses = 0;
  for (size_t begin = 0, end; begin < groups.size(); begin = end) {
    double hit = 0, missed = 0;
    for (end = begin; end < groups.size() && groups[end].score == groups[begin].score; ++end) {
      hit += groups[end].positives;
      missed += groups[end].negatives;
    }
    hits += hit;
    misses += missed;
    won += hit * (negatives - misses + missed / 2);
    if (hit > 0) precision += hit * hits / (hits + misses);
  }
  return Ranking{won / (positives * negatives), precision / positives};
}

}  // namespace paceline
