#include "engine/train/grain_memory.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

// 1,000 bytes a token, and one text of 100 tokens is the longest.
uint64_t bytes(uint64_t tokens, uint64_t samples) { return 1000 * tokens + samples; }

std::string refusal(uint64_t grain_size, uint64_t grain_tokens, uint64_t longest, unsigned executors,
                    uint64_t usable) {
  TrainOptions options;
  options.grain_size = grain_size;
  options.grain_tokens = grain_tokens;
  try {
    check_grain_memory(options, longest, executors, usable, bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool ends_with(const std::string& text, const std::string& end) { return text.ends_with(end); }

TEST(GrainMemory, WhatFitsIsAccepted) {
  EXPECT_EQ(refusal(16, 16384, 100, 2, 3300000), "");
  EXPECT_EQ(refusal(16, 16384, 100, 2, 0), "") << "unknown memory refuses nothing";
}

TEST(GrainMemory, WhetherAGrainFitsIsKnownWithoutRefusingIt) {
  TrainOptions options;
  options.grain_size = 16;
  EXPECT_TRUE(grains_fit(options, 100, 2, 3300000, bytes));
  EXPECT_FALSE(grains_fit(options, 100, 2, 3200000, bytes));
  EXPECT_TRUE(grains_fit(options, 100, 2, 0, bytes)) << "unknown memory refuses nothing";
}

TEST(GrainMemory, NamesTheGrainSizeThatFits) {
  const std::string said = refusal(16, 16384, 100, 2, 1000000);
  EXPECT_TRUE(said.starts_with("--grain-size: grains of up to 1600 tokens on 2 executors need 3.2 MB"))
      << said;
  EXPECT_TRUE(ends_with(said, "--grain-size 4 fits")) << said;
  EXPECT_EQ(refusal(4, 16384, 100, 2, 1000000), "");
}

TEST(GrainMemory, NamesTheGrainTokensThatFitWhereTheyAreTheLimit) {
  const std::string said = refusal(1000, 16000, 100, 1, 5000000);
  EXPECT_TRUE(ends_with(said, "--grain-tokens 4000 fits")) << said;
  EXPECT_EQ(refusal(1000, 4000, 100, 1, 5000000), "");
}

TEST(GrainMemory, ATextThatIsTooLongNamesTheLengthThatFits) {
  const std::string said = refusal(16, 16384, 20000, 1, 6000000);
  EXPECT_TRUE(said.find("--max-length 5000 --grain-tokens 5000 fits") != std::string::npos) << said;
  EXPECT_EQ(refusal(16, 5000, 5000, 1, 6000000), "");
}

TEST(GrainMemory, WhereNothingFitsItSaysSo) {
  const std::string said = refusal(16, 16384, 100, 8, 100);
  EXPECT_TRUE(said.find("not even a text of one token fits") != std::string::npos) << said;
}

// Grains of so many tokens, two samples each.
uint32_t grains_at_once(const Joining& joining, const std::vector<uint64_t>& tokens) {
  const std::vector<uint32_t> ids(1000);
  Batch batch;
  for (uint64_t count : tokens) {
    batch.samples.push_back({std::span(ids).first(count - 1), 0, {}});
    batch.samples.push_back({std::span(ids).first(1), 0, {}});
    batch.grain_begin.push_back(batch.samples.size());
  }
  return joining.grains_at_once(batch);
}

TEST(Joining, AsManyGrainsAsMakeTheSamplesAndFitTheTokens) {
  const std::vector<uint64_t> tokens(20, 100);
  EXPECT_EQ(grains_at_once({1, 8192}, tokens), 1u);
  EXPECT_EQ(grains_at_once({16, 8192}, tokens), 8u);
  EXPECT_EQ(grains_at_once({16, 350}, tokens), 3u);
  EXPECT_EQ(grains_at_once({16, 99}, tokens), 1u);
  EXPECT_EQ(grains_at_once({16, 0}, tokens), 1u);
  EXPECT_EQ(grains_at_once({16, 1000}, {400, 100, 100, 100}), 2u) << "the largest counts";
  EXPECT_EQ(grains_at_once({16, 1000}, {}), 1u);
}

TEST(Joining, JoinsLessWhereMemoryIsShort) {
  EXPECT_EQ(joining_that_fits({16, 8192}, 16384, 2, 0, bytes).tokens, 8192u) << "unknown memory";
  EXPECT_EQ(joining_that_fits({16, 8192}, 16384, 2, 1ull << 40, bytes).tokens, 8192u);
  EXPECT_EQ(joining_that_fits({16, 8192}, 1000, 2, 1ull << 40, bytes).tokens, 1000u);
  EXPECT_EQ(joining_that_fits({16, 8192}, 1000, 2, 600000, bytes).tokens, 250u);
  EXPECT_EQ(joining_that_fits({16, 8192}, 1000, 2, 10, bytes).tokens, 0u) << "one by one";
}

}  // namespace
}  // namespace paceline
