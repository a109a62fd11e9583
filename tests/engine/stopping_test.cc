#include "engine/train/stopping.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace paceline {
namespace {

using Names = std::vector<std::string>;

Scores scores(double macro_f1, double loss, std::optional<double> auc = std::nullopt) {
  Scores out;
  out.macro_f1 = macro_f1;
  out.mean_loss = loss;
  out.auc = auc;
  return out;
}

TEST(Stopping, EveryMetricHasAValueInTheJsonOfScores) {
  for (bool multi_label : {false, true}) {
    ScoreCounter counter({"a", "b"}, multi_label);
    const std::vector<float> sure = {0.75f, 0.25f}, unsure = {0.25f, 0.75f};
    if (multi_label) {
      counter.add(sure, std::vector<uint8_t>{1, 0});
      counter.add(unsure, std::vector<uint8_t>{0, 1});
    } else {
      counter.add(sure, 0);
      counter.add(unsure, 1);
    }
    const Scores result = counter.result();
    const auto json = to_json(result);
    for (const auto& name : metric_names()) {
      if (!metric_exists(name, multi_label ? ScoreKind::labels : ScoreKind::classes)) {
        EXPECT_FALSE(json.contains(name)) << name;
        continue;
      }
      ASSERT_TRUE(metric(result, name)) << name;
      EXPECT_EQ(json.at(name).get<double>(), *metric(result, name)) << name;
    }
  }
  EXPECT_THROW(metric(Scores{}, "f1"), InputError);
}

TEST(Stopping, EveryMetricOfMaskedPiecesHasAValueInTheJsonOfScores) {
  const Scores result = masked_scores(10, 40, 10, 40 * std::log(3.0));
  const auto json = to_json(result);
  for (const auto& name : metric_names()) {
    EXPECT_EQ(json.contains(name), metric_exists(name, ScoreKind::masked_pieces)) << name;
    if (metric_exists(name, ScoreKind::masked_pieces)) {
      EXPECT_EQ(json.at(name).get<double>(), *metric(result, name)) << name;
    }
  }
  EXPECT_NEAR(*metric(result, "perplexity"), 3, 1e-12);
  EXPECT_EQ(*metric(result, "masked_accuracy"), 0.25);
  EXPECT_EQ(json.at("masked_pieces"), 40);
  EXPECT_FALSE(larger_is_better("perplexity"));
  EXPECT_TRUE(larger_is_better("masked_accuracy"));
}

TEST(Stopping, LargerIsBetterExceptForTheLoss) {
  Stopping stopping({{"macro_f1", "mean_loss"}, "first", 0});
  EXPECT_EQ(stopping.add(10, scores(0.5, 0.7)), (Names{"macro_f1", "mean_loss"}));
  EXPECT_EQ(stopping.add(20, scores(0.6, 0.8)), Names{"macro_f1"});
  EXPECT_EQ(stopping.add(30, scores(0.5, 0.6)), Names{"mean_loss"});
  EXPECT_EQ(stopping.best("macro_f1")->step, 20u);
  EXPECT_EQ(stopping.best("macro_f1")->value, 0.6);
  EXPECT_EQ(stopping.best("mean_loss")->step, 30u);
  EXPECT_EQ(stopping.best("accuracy"), nullptr);
}

TEST(Stopping, OfEqualsTheFirstStaysTheBest) {
  Stopping stopping({});
  EXPECT_EQ(stopping.add(1, scores(0.5, 1)).size(), 1u);
  EXPECT_TRUE(stopping.add(2, scores(0.5, 1)).empty());
  EXPECT_EQ(stopping.best("macro_f1")->step, 1u);
}

TEST(Stopping, PatienceCountsEvaluationsWithoutImprovement) {
  Stopping stopping({{"macro_f1"}, "first", 2});
  stopping.add(1, scores(0.5, 1));
  stopping.add(2, scores(0.4, 1));
  EXPECT_FALSE(stopping.should_stop());
  stopping.add(3, scores(0.51, 1));
  stopping.add(4, scores(0.5, 1));
  EXPECT_FALSE(stopping.should_stop());
  stopping.add(5, scores(0.5, 1));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.reason(), "macro_f1 has not improved over 2 evaluations (best 0.5100 at step 3)");
}

TEST(Stopping, WithoutPatienceARunNeverStopsEarly) {
  Stopping stopping({{"macro_f1"}, "any", 0});
  for (uint64_t step = 1; step < 100; ++step) stopping.add(step, scores(0.5, 1));
  EXPECT_FALSE(stopping.should_stop());
}

TEST(Stopping, FirstAnyAndAllLookAtDifferentMetrics) {
  // The loss stops improving at once, macro-F1 after the fourth evaluation.
  const double f1[] = {0.1, 0.2, 0.3, 0.4, 0.4, 0.4};
  auto stops_after = [&](const char* when, Names metrics) {
    Stopping stopping({std::move(metrics), when, 2});
    for (int i = 0; i < 6; ++i) {
      stopping.add(static_cast<uint64_t>(i), scores(f1[i], 1));
      if (stopping.should_stop()) return i;
    }
    return -1;
  };
  EXPECT_EQ(stops_after("first", {"macro_f1", "mean_loss"}), 5);
  EXPECT_EQ(stops_after("first", {"mean_loss", "macro_f1"}), 2);
  EXPECT_EQ(stops_after("any", {"macro_f1", "mean_loss"}), 2);
  EXPECT_EQ(stops_after("all", {"mean_loss", "macro_f1"}), 5);
}

TEST(Stopping, AnUndefinedMetricHasNotImproved) {
  Stopping stopping({{"auc"}, "first", 1});
  EXPECT_TRUE(stopping.add(1, scores(0.5, 1)).empty());
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_EQ(stopping.add(2, scores(0.5, 1, 0.7)), Names{"auc"});
  EXPECT_TRUE(stopping.add(3, scores(0.5, 1)).empty());
  EXPECT_TRUE(stopping.should_stop());
}

TEST(Stopping, GoesOnFromItsState) {
  Stopping first({{"macro_f1", "mean_loss"}, "all", 2});
  first.add(1, scores(0.123456789012345678, 0.3));
  first.add(2, scores(0.1, 0.4));
  Stopping second({{"mean_loss", "auc"}, "first", 2});
  second.load(nlohmann::json::parse(first.state().dump()));
  EXPECT_EQ(second.best("macro_f1"), nullptr);
  ASSERT_NE(second.best("mean_loss"), nullptr);
  EXPECT_EQ(second.best("mean_loss")->since, 1u);
  second.add(3, scores(0.1, 0.3));
  EXPECT_TRUE(second.should_stop());
  Stopping same({{"macro_f1", "mean_loss"}, "all", 2});
  same.load(nlohmann::json::parse(first.state().dump()));
  EXPECT_EQ(same.state(), first.state());
  EXPECT_TRUE(same.add(3, scores(0.123456789012345678, 0.3)).empty()) << "a value lost bits on its way";
}

TEST(Stopping, WhatCouldNotBeKeptIsNotTheBest) {
  Stopping stopping({});
  const Stopping none = stopping;
  stopping.add(1, scores(0.9, 1));
  stopping.put_back("macro_f1", none);
  EXPECT_EQ(stopping.best("macro_f1"), nullptr);
  EXPECT_EQ(stopping.add(2, scores(0.2, 1)), Names{"macro_f1"});
  const Stopping before = stopping;
  stopping.add(3, scores(0.8, 1));
  stopping.put_back("macro_f1", before);
  EXPECT_TRUE(stopping.add(4, scores(0.1, 1)).empty()) << "worse than the one that is kept";
  EXPECT_EQ(stopping.add(5, scores(0.5, 1)), Names{"macro_f1"});
}

}  // namespace
}  // namespace paceline
