#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "data/batch/batch.h"

namespace paceline {
namespace {

// A batch of samples of these lengths; labels number them.
Batch batch_of(const std::vector<uint64_t>& lengths, uint64_t grain_size, uint64_t grain_tokens = 16384) {
  static const std::vector<uint32_t> ids(1 << 16, 7);
  Batch batch;
  for (uint64_t i = 0; i < lengths.size(); ++i)
    batch.samples.push_back({std::span(ids).first(lengths[i]), static_cast<uint32_t>(i), {}});
  cut_into_grains(batch, grain_size, grain_tokens);
  return batch;
}

uint64_t tokens_of(std::span<const Sample> samples) {
  uint64_t tokens = 0;
  for (const auto& sample : samples) tokens += sample.ids.size();
  return tokens;
}

std::vector<uint64_t> sizes_of(const Batch& batch) {
  std::vector<uint64_t> sizes;
  for (uint64_t g = 0; g < batch.grains(); ++g) sizes.push_back(batch.grain(g).size());
  return sizes;
}

std::vector<uint64_t> random_lengths(RandomStream& random, uint64_t count) {
  std::vector<uint64_t> lengths(count);
  const uint64_t widest = uint64_t{1} << random.below(15);
  for (auto& length : lengths) length = 1 + random.below(1 + random.below(widest));
  return lengths;
}

TEST(Grains, EqualLengthsGiveEqualGrains) {
  EXPECT_EQ(sizes_of(batch_of(std::vector<uint64_t>(64, 200), 16)), (std::vector<uint64_t>{16, 16, 16, 16}));
  EXPECT_EQ(sizes_of(batch_of(std::vector<uint64_t>(128, 1), 32)), (std::vector<uint64_t>{32, 32, 32, 32}));
  EXPECT_EQ(sizes_of(batch_of(std::vector<uint64_t>(3, 50), 1)), (std::vector<uint64_t>{1, 1, 1}));
  EXPECT_EQ(sizes_of(batch_of({9}, 16)), (std::vector<uint64_t>{1}));
  for (uint64_t size : sizes_of(batch_of(std::vector<uint64_t>(70, 200), 16))) EXPECT_EQ(size, 14u);
}

TEST(Grains, TheLongestComesFirstAndEqualOnesStayInOrder) {
  const Batch batch = batch_of({3, 9, 3, 20, 9, 1}, 2);
  std::vector<uint32_t> labels;
  for (const auto& sample : batch.samples) labels.push_back(sample.label);
  EXPECT_EQ(labels, (std::vector<uint32_t>{3, 1, 4, 0, 2, 5}));
  EXPECT_EQ(batch.tokens, 45u);
  EXPECT_EQ(batch.longest, 20u);
}

TEST(Grains, EverySampleIsInOneGrainAndNoGrainIsEmpty) {
  RandomStream random({1});
  for (int trial = 0; trial < 3000; ++trial) {
    const auto lengths = random_lengths(random, 1 + random.below(200));
    const uint64_t size = 1 + random.below(40), limit = 1 + random.below(20000);
    const Batch batch = batch_of(lengths, size, limit);
    ASSERT_EQ(batch.first_sample(0), 0u);
    ASSERT_EQ(batch.grain_begin.back(), lengths.size());
    for (uint64_t g = 0; g < batch.grains(); ++g) ASSERT_GE(batch.grain(g).size(), 1u) << trial;
    ASSERT_EQ(batch.tokens, std::accumulate(lengths.begin(), lengths.end(), uint64_t{0}));
  }
}

TEST(Grains, NoneHasMoreTokensThanAllowedUnlessItIsOneText) {
  RandomStream random({2});
  for (int trial = 0; trial < 3000; ++trial) {
    const uint64_t limit = 1 + random.below(20000);
    const Batch batch = batch_of(random_lengths(random, 1 + random.below(200)), 16, limit);
    for (uint64_t g = 0; g < batch.grains(); ++g) {
      if (batch.grain(g).size() > 1) {
        ASSERT_LE(tokens_of(batch.grain(g)), limit) << trial;
      }
    }
  }
  EXPECT_EQ(batch_of(std::vector<uint64_t>(64, 9000), 16).grains(), 64u);
  EXPECT_LE(batch_of(std::vector<uint64_t>(64, 2000), 16).grains(), 8u + 2);
}

TEST(Grains, ThereAreAsManyAsTheSizeAsksFor) {
  RandomStream random({3});
  for (int trial = 0; trial < 3000; ++trial) {
    const auto lengths = random_lengths(random, 1 + random.below(200));
    const uint64_t size = 1 + random.below(40);
    ASSERT_EQ(batch_of(lengths, size, uint64_t{1} << 40).grains(), (lengths.size() + size - 1) / size);
  }
}

TEST(Grains, HaveAShareOfTheTokensToWithinOneText) {
  RandomStream random({4});
  for (int trial = 0; trial < 3000; ++trial) {
    const Batch batch = batch_of(random_lengths(random, 1 + random.below(200)), 1 + random.below(40));
    for (uint64_t g = 0; g < batch.grains(); ++g) {
      const auto grain = batch.grain(g);
      if (grain.size() == 1) continue;
      ASSERT_LT(tokens_of(grain), batch.tokens / batch.grains() + 1 + grain[0].ids.size()) << trial;
    }
  }
}

TEST(Grains, OfSimilarTextsAreEqualToWithinAFewPercent) {
  RandomStream random({5});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<uint64_t> lengths(256);
    for (auto& length : lengths) length = 150 + random.below(101);
    const Batch batch = batch_of(lengths, 16);
    ASSERT_EQ(batch.grains(), 16u);
    for (uint64_t g = 0; g < 16; ++g)
      EXPECT_NEAR(double(tokens_of(batch.grain(g))), double(batch.tokens) / 16,
                  double(batch.tokens) / 16 * 0.08);
  }
}

TEST(Grains, AVeryLongTextIsAGrainOfItsOwnAndTheOthersShareTheRest) {
  std::vector<uint64_t> lengths(64, 100);
  lengths[40] = 20000;
  const Batch batch = batch_of(lengths, 16);
  EXPECT_EQ(sizes_of(batch), (std::vector<uint64_t>{1, 21, 21, 21}));
  EXPECT_EQ(batch.grain(0)[0].label, 40u);
  EXPECT_EQ(sizes_of(batch_of({5, 5, 20000, 5}, 1000)), (std::vector<uint64_t>{1, 3}));
}

}  // namespace
}  // namespace paceline
