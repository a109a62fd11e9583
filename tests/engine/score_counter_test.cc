// What ScoreCounter promises beside the numbers themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "engine/score/scores.h"

namespace paceline {
namespace {

std::vector<std::string> names(size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.push_back(fmt::format("c{}", i));
  return out;
}

void add_random(ScoreCounter& counter, size_t classes, bool multi_label, uint64_t number) {
  RandomStream random({number, 3});
  std::vector<float> scores(classes);
  std::vector<uint8_t> labels(classes);
  double sum = 0;
  for (auto& score : scores) sum += score = static_cast<float>(random.uniform());
  for (auto& label : labels) label = random.below(3) == 0;
  if (multi_label) return counter.add(scores, labels);
  for (auto& score : scores) score = static_cast<float>(score / sum);
  counter.add(scores, static_cast<uint32_t>(random.below(classes)));
}

bool has_note(const Scores& scores, std::string_view part) {
  return std::any_of(scores.notes.begin(), scores.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

// The JSON text has enough digits of every number to tell it from its neighbours: equal texts are equal bits.
TEST(ScoreCounter, BitsDoNotDependOnOrderOrOnHowSamplesWereSpread) {
  for (bool multi_label : {false, true}) {
    for (size_t classes : {2u, 5u, 300u}) {  // 300 classes fold after 13,981 samples
      const uint64_t n = classes == 300 ? 20000 : 3000;
      ScoreCounter whole(names(classes), multi_label), backwards(names(classes), multi_label);
      for (uint64_t i = 0; i < n; ++i) add_random(whole, classes, multi_label, i);
      for (uint64_t i = n; i-- > 0;) add_random(backwards, classes, multi_label, i);
      std::vector<ScoreCounter> parts(3, ScoreCounter(names(classes), multi_label));
      for (uint64_t i = 0; i < n; ++i) add_random(parts[mix64(i) % 3], classes, multi_label, i);
      parts[2].merge(parts[0]);
      parts[1].merge(parts[2]);
      const std::string expected = to_json(whole.result()).dump();
      EXPECT_EQ(expected, to_json(backwards.result()).dump());
      EXPECT_EQ(expected, to_json(parts[1].result()).dump());
      EXPECT_EQ(has_note(whole.result(), "fine bins"), classes == 300);
    }
  }
}

TEST(ScoreCounter, TheFirstOfEquallyHighClassesIsPredicted) {
  EXPECT_EQ(predicted_class(std::vector<float>{0.2f, 0.4f, 0.4f}), 1u);
  EXPECT_EQ(predicted_class(std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f}), 0u);
}

TEST(ScoreCounter, UndefinedScoresAreAbsentAndANoteSaysWhy) {
  ScoreCounter counter({"toxic", "threat", "text"}, true);
  counter.add(std::vector<float>{0.9f, 0.2f, 1.0f}, std::vector<uint8_t>{1, 0, 1});
  counter.add(std::vector<float>{0.4f, 0.1f, 0.8f}, std::vector<uint8_t>{0, 0, 1});
  const Scores scores = counter.result();
  EXPECT_FALSE(scores.classes[1].auc || scores.classes[1].average_precision || scores.classes[1].best_f1 ||
               scores.classes[1].best_threshold);
  EXPECT_FALSE(scores.classes[2].auc);
  EXPECT_EQ(scores.classes[2].average_precision, 1.0);
  EXPECT_EQ(scores.auc, 1.0);
  EXPECT_TRUE(has_note(scores, "of 'threat' are undefined: no positive sample"));
  EXPECT_TRUE(has_note(scores, "AUC of 'text' is undefined: no negative sample"));
  EXPECT_TRUE(has_note(scores, "over the 1 of 3 labels"));
  EXPECT_TRUE(to_json(scores)["classes"][1]["auc"].is_null());
}

TEST(ScoreCounter, WithoutSamplesEverythingIsZeroOrAbsentAndNeverNaN) {
  for (bool multi_label : {false, true}) {
    const Scores scores = ScoreCounter(names(3), multi_label).result();
    EXPECT_EQ(scores.samples, 0u);
    EXPECT_EQ(scores.accuracy, 0);
    EXPECT_FALSE(scores.auc || scores.average_precision || scores.mean_loss);
    EXPECT_TRUE(has_note(scores, "no sample to score"));
    // A NaN would have become null: only what is absent on purpose may be.
    const auto json = to_json(scores);
    for (const char* key : {"macro_precision", "macro_recall", "macro_f1", "micro_f1", "weighted_f1"})
      EXPECT_EQ(json[key], 0.0) << key;
    EXPECT_EQ(json["null_classifier"]["accuracy"], 0.0);
  }
}

TEST(ScoreCounter, ANaNIsRefusedWithTheNameOfItsClass) {
  ScoreCounter counter({"negative", "positive"}, false);
  try {
    counter.add(std::vector<float>{0.5f, std::numeric_limits<float>::quiet_NaN()}, 0u);
    FAIL() << "NaN was accepted";
  } catch (const WorkError& error) {
    EXPECT_NE(std::string(error.what()).find("'positive' is not a number"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(counter.samples(), 0u);
}

TEST(ScoreCounter, ManyClassesKeepTheirScoresButNoConfusionMatrix) {
  ScoreCounter counter(names(1500), false);
  for (uint64_t i = 0; i < 50; ++i) add_random(counter, 1500, false, i);
  const Scores scores = counter.result();
  EXPECT_TRUE(scores.confusion.empty());
  EXPECT_TRUE(has_note(scores, "1,500 classes"));
  EXPECT_EQ(scores.classes.size(), 1500u);
  EXPECT_EQ(confusion_table(scores).size(), 0u);
}

TEST(ScoreTables, HaveARowPerClassAndTheMeanAndTheMatrix) {
  ScoreCounter counter({"neg", "pos"}, false);
  counter.add(std::vector<float>{0.75f, 0.25f}, 0u);
  counter.add(std::vector<float>{0.25f, 0.75f}, 0u);
  counter.add(std::vector<float>{0.125f, 0.875f}, 1u);
  const Scores scores = counter.result();
  const auto rows = scores_table(scores).json();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["class"], "neg");
  EXPECT_EQ(rows[0]["recall"], 0.5);
  EXPECT_EQ(rows[1]["best F1"], 1.0);
  EXPECT_EQ(rows[1]["at threshold"], 0.875);
  EXPECT_EQ(rows[2]["class"], "macro mean");
  EXPECT_EQ(rows[2]["recall"], 0.75);
  EXPECT_EQ(confusion_table(scores).text(),
            "true \\ predicted  neg  pos\n"
            "----------------  ---  ---\n"
            "neg                 1    1\n"
            "pos                 0    1\n");
}

TEST(ScoreTables, OfLabelsShowTheFourCountsOfEach) {
  ScoreCounter counter({"a", "b"}, true);
  counter.add(std::vector<float>{0.9f, 0.5f}, std::vector<uint8_t>{1, 0});
  counter.add(std::vector<float>{0.1f, 0.1f}, std::vector<uint8_t>{1, 0});
  const auto rows = confusion_table(counter.result()).json();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["true yes, said yes"], 1);
  EXPECT_EQ(rows[0]["true yes, said no"], 1);
  EXPECT_EQ(rows[1]["true no, said yes"], 1);
  EXPECT_EQ(rows[1]["true no, said no"], 1);
}

}  // namespace
}  // namespace paceline
