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

}  // namespace
}  // namespace paceline
