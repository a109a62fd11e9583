// The highest, lowest and most wrong scores.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "engine/score/extremes.h"

namespace paceline {
namespace {

struct Scored {
  uint64_t row;
  float score;
  bool truth;
};

std::vector<Scored> some(size_t count) {
  RandomStream random(7);
  std::vector<Scored> all;
  for (uint64_t row = 0; row < count; ++row)
    all.push_back(
        {row, static_cast<float>(static_cast<int>(random.uniform() * 40)) / 40.f, random.uniform() < 0.3});
  return all;
}

Extremes found(const std::vector<Scored>& all, size_t count) {
  ExtremesCounter counter(count, "toxic");
  for (const Scored& s : all)
    counter.add(s.row, s.score, s.truth, std::vector<uint32_t>{static_cast<uint32_t>(s.row)});
  return counter.take();
}

std::vector<uint64_t> rows(const std::vector<ScoredSample>& samples) {
  std::vector<uint64_t> result;
  for (const auto& sample : samples) {
    result.push_back(sample.row);
    EXPECT_EQ(sample.ids, std::vector<uint32_t>{static_cast<uint32_t>(sample.row)});
  }
  return result;
}

// The rows of the first few by a key, the largest first, equal ones by row.
template <typename Key>
std::vector<uint64_t> sorted(std::vector<Scored> all, size_t count, const Key& key) {
  std::ranges::stable_sort(all, [&](const Scored& a, const Scored& b) { return key(a) > key(b); });
  std::vector<uint64_t> result;
  for (size_t i = 0; i < std::min(count, all.size()); ++i) result.push_back(all[i].row);
  return result;
}

TEST(Extremes, AreThoseThatSortingGives) {
  for (size_t count : {1, 3, 50, 1000}) {
    auto all = some(400);
    const Extremes extremes = found(all, count);
    EXPECT_EQ(rows(extremes.highest), sorted(all, count, [](const Scored& s) { return s.score; }));
    EXPECT_EQ(rows(extremes.lowest), sorted(all, count, [](const Scored& s) { return -s.score; }));
    const auto wrong = [](const Scored& s) { return s.truth ? 1 - double{s.score} : double{s.score}; };
    auto wrong_ones = all;
    std::erase_if(wrong_ones, [&](const Scored& s) { return wrong(s) <= 0.5; });
    EXPECT_EQ(rows(extremes.most_wrong), sorted(wrong_ones, count, wrong));
  }
}

TEST(Extremes, DoNotDependOnTheOrder) {
  auto all = some(300);
  const Extremes before = found(all, 10);
  std::ranges::reverse(all);
  const Extremes after = found(all, 10);
  EXPECT_EQ(to_json(before), to_json(after));
  EXPECT_EQ(before.of, "toxic");
}

TEST(Extremes, OfNothingAreEmpty) {
  EXPECT_TRUE(found({}, 5).highest.empty());
  EXPECT_TRUE(found(some(10), 0).highest.empty());
}

TEST(Extremes, LongTextsAreCutBetweenCharacters) {
  ScoredSample sample{3, 0.75f, true, {}, "größer als der Rand"};
  const std::string page = samples_table({sample}, "toxic", 6).text();
  EXPECT_NE(page.find("größe…"), std::string::npos) << page;
  EXPECT_EQ(page.find("größer"), std::string::npos) << page;
  EXPECT_NE(samples_table({sample}, "toxic", 0).text().find("größer als der Rand"), std::string::npos);
}

}  // namespace
}  // namespace paceline
