// Scores against scikit-learn's: golden/scores.json is written by golden/make_scores.py.
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "engine/score/scores.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

struct Sample {
  std::vector<uint8_t> labels;
  uint32_t label = 0;
  std::vector<float> scores;
};

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t next() { return (state_ = state_ * 6364136223846793005ull + 1442695040888963407ull) >> 40; }
  double unit() { return static_cast<double>(next()) / 16777216.0; }

 private:
  uint64_t state_;
};

// The formula of make_scores.py's draw().
Sample draw(const Json& recipe, Numbers& numbers) {
  const size_t classes = recipe["classes"];
  const bool multi_label = recipe["multi_label"];
  const double bonus = recipe["bonus"], levels = recipe["levels"];
  Sample sample;
  sample.labels.resize(classes);
  if (multi_label) {
    for (size_t k = 0; k < classes; ++k)
      sample.labels[k] = numbers.unit() < static_cast<double>(k + 1) / (2.0 * static_cast<double>(classes));
  } else {
    sample.label = static_cast<uint32_t>(numbers.next() % classes);
    sample.labels[sample.label] = 1;
  }
  std::vector<double> row;
  for (size_t k = 0; k < classes; ++k) {
    double u = numbers.unit();
    for (int i = 0; i < recipe["squarings"].get<int>(); ++i) u = u * u;
    if (bonus * sample.labels[k] > 0) u = u + bonus;
    if (levels > 0) u = (std::floor(u * levels) + 1) / levels;
    row.push_back(u);
  }
  double total = 0;
  for (double u : row) total = total + u;
  for (double u : row) sample.scores.push_back(static_cast<float>(u / (multi_label ? 1.0 + bonus : total)));
  return sample;
}

template <typename Take>
void for_each_sample(const Json& test, Take take) {
  if (test.contains("recipe")) {
    Numbers numbers(test["recipe"]["seed"]);
    for (uint64_t i = 0; i < test["recipe"]["samples"].get<uint64_t>(); ++i)
      take(draw(test["recipe"], numbers));
    return;
  }
  for (size_t i = 0; i < test["truth"].size(); ++i) {
    Sample sample;
    if (test["multi_label"].get<bool>())
      sample.labels = test["truth"][i].get<std::vector<uint8_t>>();
    else
      sample.label = test["truth"][i];
    sample.scores = test["scores"][i].get<std::vector<float>>();
    take(std::move(sample));
  }
}

double tolerance_of(const std::string& key) {
  return key == "auc" || key == "average_precision" || key == "mean_loss" ? 1e-9 : 1e-12;
}

// Everything that scikit-learn says must be there and equal; what we add is left alone.
void expect_same(const Json& expected, const Json& found, const std::string& where, double tolerance) {
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      ASSERT_TRUE(found.contains(key)) << where << "." << key;
      expect_same(value, found[key], where + "." + key, tolerance_of(key));
    }
  } else if (expected.is_array()) {
    ASSERT_EQ(expected.size(), found.size()) << where;
    for (size_t i = 0; i < expected.size(); ++i)
      expect_same(expected[i], found[i], fmt::format("{}[{}]", where, i), tolerance);
  } else if (expected.is_number()) {
    ASSERT_TRUE(found.is_number()) << where << " is " << found << ", expected " << expected;
    const double a = expected, b = found;
    EXPECT_LE(std::fabs(a - b), tolerance * std::max(1e-3, std::fabs(a)))
        << where << ": " << b << ", expected " << a;
  } else {
    EXPECT_EQ(expected, found) << where;
  }
}

TEST(ScoreGolden, EqualsScikitLearnOnRandomAndDegenerateInputs) {
  const auto tests = Json::parse(read_file(PACELINE_SOURCE_DIR "/tests/engine/golden/scores.json"));
  ASSERT_GE(tests.size(), 40u);
  for (const auto& test : tests) {
    const bool multi_label = test["multi_label"];
    std::vector<std::string> names;
    for (const auto& c : test["expected"]["classes"]) names.push_back(c["name"]);
    ScoreCounter counter(names, multi_label);
    for_each_sample(test, [&](const Sample& sample) {
      multi_label ? counter.add(sample.scores, sample.labels) : counter.add(sample.scores, sample.label);
    });
    expect_same(test["expected"], to_json(counter.result()), test["name"], 1e-12);
  }
}

}  // namespace
}  // namespace paceline
