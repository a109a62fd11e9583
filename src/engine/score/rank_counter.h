// How well scores rank the positive samples of one class before the negative ones.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace paceline {

// What may be kept per class, so that memory follows neither the number of samples nor of classes.
struct RankLimits {
  uint64_t kept;      // samples whose scores are kept one by one; more are counted in bins
  unsigned bin_bits;  // then 2^bin_bits bins per power of two
  // 2^20 samples for up to four classes, then about 2^22 for all classes together.
  static RankLimits for_classes(uint64_t classes);
};

// What is undefined (no positive or no negative sample) is absent.
struct RankScores {
  std::optional<double> auc, average_precision;
  // The best F1 of "score >= threshold" over all thresholds; the highest of equally good ones.
  std::optional<double> best_f1, best_threshold;
};

// Exact up to limits.kept samples; beyond, scores that fall into one bin count as ties. Which of the
// two depends on the total alone, and everything is counted in integers: the result is the same
// whatever the order of add() and merge().
class RankCounter {
 public:
  explicit RankCounter(RankLimits limits) : limits_(limits) {}
  // The score must not be NaN.
  void add(float score, bool positive);
  void merge(const RankCounter& other);
  bool folded() const { return positive_count_ + negative_count_ > limits_.kept; }
  RankScores result() const;

 private:
  struct Bin {
    uint64_t positives = 0, negatives = 0;
  };
  void fold();
  void count(float score, bool positive);
  // Calls group(score, positives, negatives) for every distinct score, the highest first.
  template <typename Group>
  void for_each_group(Group group) const;

  RankLimits limits_;
  uint64_t positive_count_ = 0, negative_count_ = 0;
  std::vector<float> positives_, negatives_;  // while not folded
  std::map<int64_t, std::vector<Bin>> bins_;  // when folded: by power of two
};

}  // namespace paceline
