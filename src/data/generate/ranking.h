// How well a score ranks, when it takes few values.
#pragma once
#include <optional>
#include <vector>

namespace paceline {

// Everything that has one score: how much of it is positive and how much is not (rows, or shares of them).
struct ScoredGroup {
  double score, positives, negatives;
};

struct Ranking {
  double auc, average_precision;
};

// Nothing where there is no positive or no negative. Equal scores count as ties.
std::optional<Ranking> rank_groups(std::vector<ScoredGroup> groups);

}  // namespace paceline
