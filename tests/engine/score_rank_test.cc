// Ranking scores beyond what is kept one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "engine/score/ordered_score.h"
#include "engine/score/rank_counter.h"

namespace paceline {
namespace {

constexpr RankLimits everything = {uint64_t{1} << 40, 12};
const RankLimits usual = RankLimits::for_classes(2);

struct Scored {
  float score;
  bool positive;
};

float sigmoid(double x) { return static_cast<float>(1 / (1 + std::exp(-x))); }

double normal(RandomStream& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(6.283185307179586 * random.uniform());
}

// A model that is right `signal` standard deviations apart, and whose logits are `sharp` times as large.
std::vector<Scored> model_scores(size_t n, double rate, double signal, double sharp, uint64_t seed) {
  RandomStream random({seed, 77});
  std::vector<Scored> scored;
  for (size_t i = 0; i < n; ++i) {
    const bool positive = random.uniform() < rate;
    scored.push_back({sigmoid(sharp * (normal(random) + (positive ? signal : -signal))), positive});
  }
  return scored;
}

RankScores rank(const std::vector<Scored>& scored, RankLimits limits) {
  RankCounter counter(limits);
  for (const auto& s : scored) counter.add(s.score, s.positive);
  return counter.result();
}

void expect_same_bits(const RankScores& a, const RankScores& b) {
  auto same = [](std::optional<double> x, std::optional<double> y) {
    ASSERT_EQ(x.has_value(), y.has_value());
    if (x) {
      EXPECT_EQ(std::memcmp(&*x, &*y, sizeof(double)), 0) << *x << " " << *y;
    }
  };
  same(a.auc, b.auc);
  same(a.average_precision, b.average_precision);
  same(a.best_f1, b.best_f1);
  same(a.best_threshold, b.best_threshold);
}

TEST(ScoreOrder, KeepsTheOrderOfAllKindsOfFloats) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> scores = {-infinity, -3e38f, -2,    -1e-40f, 0, 1e-45f, 2e-45f,  1e-38f,
                               0.25f,     0.5f,   0.75f, 1,       2, 3e38f,  infinity};
  RandomStream random({5});
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random.next());
    float score;
    std::memcpy(&score, &bits, sizeof(score));
    if (!std::isnan(score)) scores.push_back(score);
    scores.push_back(static_cast<float>(random.uniform()));
  }
  for (float near : {0.5f, 1.0f})
    for (float other : {std::nextafter(near, 0.0f), std::nextafter(near, 2.0f)}) scores.push_back(other);
  std::sort(scores.begin(), scores.end());
  for (size_t i = 1; i < scores.size(); ++i)
    ASSERT_EQ(scores[i - 1] < scores[i], score_order(scores[i - 1]) < score_order(scores[i]))
        << scores[i - 1] << " " << scores[i];
  EXPECT_EQ(score_order(-0.0f), score_order(0.0f));
  for (float score : scores) ASSERT_EQ(score_from(score_order(score)), score);
}

TEST(ScoreOrder, ABinsFirstScoreBelongsToThatBinOrLiesBeforeEveryScoreInIt) {
  RandomStream random({6});
  for (int i = 0; i < 200000; ++i) {
    const float score = sigmoid(20 * normal(random));
    const int64_t start = score_order(score) >> 11 << 11;
    const float first = score_from(start);
    ASSERT_LE(first, score);
    ASSERT_GE(score_order(first), start);
  }
}

TEST(RankFold, ThreeMillionRandomScoresAreWithinAHundredThousandthOfExact) {
  struct {
    double rate, signal, sharp;
  } models[] = {{0.5, 0, 1}, {0.22, 1, 1}, {0.22, 1.5, 8}, {0.01, 1, 3}};
  for (const auto& model : models) {
    const auto scored = model_scores(3000000, model.rate, model.signal, model.sharp, 1);
    const auto exact = rank(scored, everything), folded = rank(scored, usual);
    EXPECT_NEAR(*exact.auc, *folded.auc, 1e-5);
    EXPECT_NEAR(*exact.average_precision, *folded.average_precision, 1e-4);
    EXPECT_NEAR(*exact.best_f1, *folded.best_f1, 1e-4);
    RecordProperty(fmt::format("auc_error_at_{:.3f}", *exact.auc),
                   fmt::format("{:.1e}", *exact.auc - *folded.auc));
  }
}

TEST(RankFold, UniformScoresAreWithinAHundredThousandthOfExact) {
  RandomStream random({9});
  std::vector<Scored> scored;
  for (int i = 0; i < 3000000; ++i) {
    const float score = static_cast<float>(random.uniform());
    scored.push_back({score, random.uniform() < static_cast<double>(score)});
  }
  EXPECT_NEAR(*rank(scored, everything).auc, *rank(scored, usual).auc, 1e-5);
}

TEST(RankFold, ManyClassesHaveCoarserBinsThatStillHold) {
  const auto scored = model_scores(1000000, 0.05, 1, 3, 3);
  for (uint64_t classes : {7u, 100u, 1000u})
    EXPECT_NEAR(*rank(scored, everything).auc, *rank(scored, RankLimits::for_classes(classes)).auc, 1e-4)
        << classes;
}

TEST(RankFold, TheBestThresholdOfBinsReachesItsF1OnTheScores) {
  const auto scored = model_scores(300000, 0.2, 1, 4, 4);
  const auto folded = rank(scored, {1000, 8});
  uint64_t tp = 0, predicted = 0, positives = 0;
  for (const auto& s : scored) {
    positives += s.positive;
    predicted += static_cast<double>(s.score) >= *folded.best_threshold;
    tp += s.positive && static_cast<double>(s.score) >= *folded.best_threshold;
  }
  EXPECT_DOUBLE_EQ(*folded.best_f1, 2 * static_cast<double>(tp) / static_cast<double>(positives + predicted));
}

// Below, at and above the limit, in total and in the parts.
TEST(RankFold, BitsDoNotDependOnOrderOrOnHowSamplesWereSpread) {
  const RankLimits limits = {1000, 8};
  for (size_t n : {10u, 999u, 1000u, 1001u, 1500u, 5000u}) {
    const auto scored = model_scores(n, 0.3, 1, 2, n);
    const auto whole = rank(scored, limits);
    const KeyedPermutation shuffled(n, n);
    for (unsigned parts : {1u, 2u, 3u, 7u}) {
      for (bool backwards : {false, true}) {
        std::vector<RankCounter> counters(parts, RankCounter(limits));
        for (size_t i = 0; i < n; ++i) {
          const auto& s = scored[shuffled(i)];
          counters[i * i % 11 % parts].add(s.score, s.positive);
        }
        RankCounter sum(limits);
        for (unsigned p = 0; p < parts; ++p) sum.merge(counters[backwards ? parts - 1 - p : p]);
        EXPECT_EQ(sum.folded(), n > limits.kept);
        expect_same_bits(whole, sum.result());
      }
    }
  }
}

TEST(RankFold, WithTheSameScoreEverywhereAucIsOneHalf) {
  RankCounter counter({100, 8});
  for (int i = 0; i < 1000; ++i) counter.add(0.7f, i % 3 == 0);
  EXPECT_TRUE(counter.folded());
  EXPECT_EQ(counter.result().auc, 0.5);
}

}  // namespace
}  // namespace paceline
