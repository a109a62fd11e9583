// --precision bfloat16: what it changes, and that nothing believes in it untried.
#include <cmath>

#include "bert_fixture.h"

namespace paceline {
namespace {

class Precision : public BertTraining {
 protected:
  void SetUp() override {
    BertTraining::SetUp();
    prepare("data");
  }
  // Skips the test where the processor cannot do it, and then the program must have said so.
  static bool works(const std::string& out, const Words& more = {}) {
    Words all = {"--precision", "bfloat16"};
    all.insert(all.end(), more.begin(), more.end());
    const Output output = run(bert("data", out, all));
    if (output.code == 0) return true;
    EXPECT_TRUE(is_one_sentence(output, 2, {"--precision bfloat16", "float32"})) << output.err;
    return false;
  }
};

TEST_F(Precision, Bfloat16IsConfigurationWithBitsOfItsOwnOnAnyExecutors) {
  if (!works("one", {"--executors", "1"})) GTEST_SKIP() << "products of bfloat16 do not work on this machine";
  ASSERT_TRUE(works("two", {"--executors", "2"}));
  EXPECT_TRUE(weights("one") == weights("two"));
  run_well(bert("data", "float", {"--kernels", "aten"}));
  EXPECT_FALSE(weights("one") == weights("float"));
  EXPECT_TRUE(has(read_file("one/config.yaml"), "precision: \"bfloat16\""));
  EXPECT_TRUE(has(read_file("one/config.yaml"), "kernels: \"aten\""));
  EXPECT_NEAR(accuracy("one", "data"), accuracy("float", "data"), 0.1);
  const double low = last("one", "step").at("loss"), full = last("float", "step").at("loss");
  EXPECT_NEAR(low, full, 0.05);
}

TEST_F(Precision, ARunGoesOnInItsOwn) {
  if (!works("whole")) GTEST_SKIP() << "products of bfloat16 do not work on this machine";
  ASSERT_TRUE(works("part", {"--steps", "15", "--schedule-steps", "40"}));
  run_well(resume("part", {"--steps", "40"}));
  EXPECT_TRUE(weights("whole") == weights("part"));
  EXPECT_TRUE(
      is_one_sentence(run(resume("part", {"--steps", "41", "--precision", "float32"})), 2, {"precision"}));
}

TEST_F(Precision, WhatCannotBeIsRefused) {
  refuses(bert("data", "run", {"--precision", "bfloat16", "--kernels", "fused"}),
          {"--precision bfloat16", "--kernels fused"});
  refuses(bert("data", "run", {"--precision", "float16"}), {"--precision", "float16", "bfloat16"});
  refuses({"train", "--data", tiny_data(), "--precision", "bfloat16", "--out", "run"},
          {"--precision", "ngram"});
}

}  // namespace
}  // namespace paceline
