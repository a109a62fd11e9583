#include "engine/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace paceline {
namespace {

TEST(Schedule, ConstantStaysAfterItsWarmUp) {
  const Schedule schedule{"constant", 0.4, 4, 100};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.2);
  EXPECT_DOUBLE_EQ(schedule.at(3), 0.4);
  EXPECT_DOUBLE_EQ(schedule.at(4), 0.4);
  EXPECT_DOUBLE_EQ(schedule.at(99), 0.4);
}

TEST(Schedule, LinearEndsOneStepBeforeZero) {
  const Schedule plain{"linear", 1, 0, 10};
  EXPECT_DOUBLE_EQ(plain.at(0), 1);
  EXPECT_DOUBLE_EQ(plain.at(5), 0.5);
  EXPECT_DOUBLE_EQ(plain.at(9), 0.1);
  EXPECT_DOUBLE_EQ(plain.at(10), 0);
  EXPECT_DOUBLE_EQ(plain.at(1000), 0);
  const Schedule warm{"linear", 1, 5, 25};
  EXPECT_DOUBLE_EQ(warm.at(4), 1);
  EXPECT_DOUBLE_EQ(warm.at(5), 1);
  EXPECT_DOUBLE_EQ(warm.at(15), 0.5);
  EXPECT_DOUBLE_EQ(warm.at(24), 0.05);
}

TEST(Schedule, CosineIsThatOfTheMathematicsLibrary) {
  const Schedule schedule{"cosine", 0.3, 10, 1010};
  EXPECT_DOUBLE_EQ(schedule.at(9), 0.3);
  EXPECT_DOUBLE_EQ(schedule.at(10), 0.3);
  EXPECT_NEAR(schedule.at(510), 0.15, 1e-16);
  for (uint64_t step = 10; step < 1010; ++step) {
    const double turn = static_cast<double>(step - 10) / 1000;
    EXPECT_NEAR(schedule.at(step), 0.15 * (1 + std::cos(std::numbers::pi * turn)), 1e-15) << step;
  }
  EXPECT_NEAR(schedule.at(1010), 0, 1e-17);
  EXPECT_NEAR(schedule.at(5000), 0, 1e-17);
}

TEST(Schedule, NoamPeaksAtTheEndOfItsWarmUp) {
  const Schedule schedule{"noam", 2, 100, 10000};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.02);
  EXPECT_DOUBLE_EQ(schedule.at(49), 1);
  EXPECT_DOUBLE_EQ(schedule.at(99), 2);
  EXPECT_DOUBLE_EQ(schedule.at(399), 1);
  EXPECT_DOUBLE_EQ(schedule.at(9999), 0.2);
  EXPECT_LT(schedule.at(98), schedule.at(99));
  EXPECT_LT(schedule.at(100), schedule.at(99));
}

TEST(Schedule, WarmUpLongerThanTheRunOnlyRises) {
  for (const char* kind : {"constant", "linear", "cosine", "noam"}) {
    const Schedule schedule{kind, 1, 50, 10};
    EXPECT_DOUBLE_EQ(schedule.at(0), 0.02) << kind;
    EXPECT_DOUBLE_EQ(schedule.at(9), 0.2) << kind;
  }
}

TEST(Schedule, ARunOfOneStepLearns) {
  for (const char* kind : {"constant", "linear", "cosine", "noam"})
    EXPECT_DOUBLE_EQ((Schedule{kind, 0.5, 0, 1}.at(0)), 0.5) << kind;
}

}  // namespace
}  // namespace paceline
