#include "engine/score/rank_counter.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/error.h"
#include "engine/score/ordered_score.h"

namespace paceline {
namespace {

using Wide = unsigned __int128;
constexpr unsigned octave_bits = 23;  // numbers of score_order() per power of two, as a power of two

}  // namespace

RankLimits RankLimits::for_classes(uint64_t classes) {
  const unsigned doublings = classes <= 4 ? 0 : static_cast<unsigned>(std::bit_width((classes - 1) / 4));
  return {std::clamp<uint64_t>((uint64_t{1} << 22) / std::max<uint64_t>(classes, 1), 1 << 10, 1 << 20),
          doublings < 7 ? 12 - doublings : 5};
}

void RankCounter::add(float score, bool positive) {
  if (folded()) {
    ++(positive ? positive_count_ : negative_count_);
    count(score, positive);
    return;
  }
  ++(positive ? positive_count_ : negative_count_);
  (positive ? positives_ : negatives_).push_back(score);
  if (folded()) fold();
}

void RankCounter::merge(const RankCounter& other) {
  PACELINE_ASSERT(limits_.kept == other.limits_.kept && limits_.bin_bits == other.limits_.bin_bits);
  const bool was_folded = folded();
  positive_count_ += other.positive_count_;
  negative_count_ += other.negative_count_;
  if (folded() && !was_folded) fold();
  if (!folded()) {
    positives_.insert(positives_.end(), other.positives_.begin(), other.positives_.end());
    negatives_.insert(negatives_.end(), other.negatives_.begin(), other.negatives_.end());
    return;
  }
  for (float score : other.positives_) count(score, true);
  for (float score : other.negatives_) count(score, false);
  for (const auto& [octave, page] : other.bins_) {
    auto& own = bins_[octave];
    own.resize(page.size());
    for (size_t i = 0; i < page.size(); ++i) {
      own[i].positives += page[i].positives;
      own[i].negatives += page[i].negatives;
    }
  }
}

void RankCounter::fold() {
  for (float score : positives_) count(score, true);
  for (float score : negatives_) count(score, false);
  std::vector<float>().swap(positives_);
  std::vector<float>().swap(negatives_);
}

void RankCounter::count(float score, bool positive) {
  const int64_t order = score_order(score);
  auto& page = bins_[order >> octave_bits];
  if (page.empty()) page.resize(size_t{1} << limits_.bin_bits);
  const int64_t inside = order & ((int64_t{1} << octave_bits) - 1);
  Bin& bin = page[static_cast<size_t>(inside >> (octave_bits - limits_.bin_bits))];
  ++(positive ? bin.positives : bin.negatives);
}

template <typename Group>
void RankCounter::for_each_group(Group group) const {
  if (folded()) {
    for (auto page = bins_.rbegin(); page != bins_.rend(); ++page)
      for (size_t i = page->second.size(); i-- > 0;) {
        const Bin& bin = page->second[i];
        if (bin.positives + bin.negatives == 0) continue;
        const int64_t start = static_cast<int64_t>(i) << (octave_bits - limits_.bin_bits);
        group(score_from((page->first << octave_bits) + start), bin.positives, bin.negatives);
      }
    return;
  }
  auto positives = positives_, negatives = negatives_;
  std::sort(positives.begin(), positives.end(), std::greater<>());
  std::sort(negatives.begin(), negatives.end(), std::greater<>());
  for (size_t p = 0, n = 0; p < positives.size() || n < negatives.size();) {
    const size_t first_p = p, first_n = n;
    const float score = n == negatives.size() || (p < positives.size() && positives[p] > negatives[n])
                            ? positives[p]
                            : negatives[n];
    while (p < positives.size() && positives[p] == score) ++p;
    while (n < negatives.size() && negatives[n] == score) ++n;
    group(score, p - first_p, n - first_n);
  }
}

RankScores RankCounter::result() const {
  const uint64_t all_p = positive_count_, all_n = negative_count_;
  RankScores result;
  if (all_p == 0) return result;
  uint64_t tp = 0, fp = 0, best_tp = 0, best_predicted = 0;
  Wide ordered_pairs = 0;  // twice the pairs in the right order, ties once
  double precision_sum = 0;
  float best_threshold = 0;
  for_each_group([&](float score, uint64_t p, uint64_t n) {
    ordered_pairs += Wide{p} * (2 * (all_n - fp - n) + n);
    tp += p;
    fp += n;
    precision_sum += static_cast<double>(p) * (static_cast<double>(tp) / static_cast<double>(tp + fp));
    // F1 = 2 tp / (positives + predicted), compared without rounding.
    if (Wide{tp} * (all_p + best_predicted) > Wide{best_tp} * (all_p + tp + fp)) {
      best_tp = tp;
      best_predicted = tp + fp;
      best_threshold = score;
    }
  });
  if (all_n > 0)
    result.auc = static_cast<double>(ordered_pairs) / static_cast<double>(2 * Wide{all_p} * Wide{all_n});
  result.average_precision = precision_sum / static_cast<double>(all_p);
  result.best_f1 = static_cast<double>(2 * best_tp) / static_cast<double>(all_p + best_predicted);
  result.best_threshold = static_cast<double>(best_threshold);
  return result;
}

}  // namespace paceline
