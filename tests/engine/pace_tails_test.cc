#include "engine/pace/tails.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace paceline {
namespace {

// So many steps that `last` ended last, each with an exchange of about so many seconds.
void add(Tails& tails, size_t last, double seconds, double noise, RandomStream& random, int steps = 1) {
  for (; steps > 0; --steps) {
    const double exchange = seconds * (1 + noise * (2 * random.uniform() - 1));
    std::vector<WorkerStep> workers(2);
    for (size_t w = 0; w < workers.size(); ++w)
      workers[w] = {.grains = 1, .tokens = 1, .seconds = 1, .exchange = exchange, .was_last = w == last};
    tails.add(workers);
  }
}

TEST(PaceTails, WhatEndingLastCosts) {
  RandomStream random{1};
  Tails tails(2);
  EXPECT_EQ(tails.beyond_others(1), 0);
  for (int turn = 0; turn < 8; ++turn) {
    add(tails, 0, 0.01, 0.1, random);
    add(tails, 1, 0.05, 0.1, random);
  }
  EXPECT_EQ(tails.beyond_others(0), 0);
  EXPECT_NEAR(tails.beyond_others(1), 0.04, 0.004);
}

TEST(PaceTails, OneThatAlwaysEndsLastIsComparedWithTheShortestLately) {
  RandomStream random{1};
  Tails tails(2);
  add(tails, 1, 0.01, 0, random);
  add(tails, 1, 0.05, 0.05, random, 10);
  EXPECT_NEAR(tails.beyond_others(1), 0.04, 0.004);
}

// Over a slow link exchanges differ by more than many grains take, whoever ended last.
TEST(PaceTails, NoiseOfASlowLinkIsNoTail) {
  RandomStream random{1};
  int believed = 0;
  for (int run = 0; run < 100; ++run) {
    Tails tails(2);
    for (int step = 0; step < 50; ++step) {
      add(tails, random.below(2), 4, 0.1, random);
      believed += tails.beyond_others(0) > 0 || tails.beyond_others(1) > 0;
    }
  }
  EXPECT_LT(believed, 50) << "of 5000";
}

// What one cost while the link was slow, or the process was just starting, is not held against it for ever.
TEST(PaceTails, WhatOneOnceCostIsForgotten) {
  RandomStream random{1};
  Tails tails(2);
  add(tails, 0, 4, 0.05, random, 3);
  add(tails, 1, 0.5, 0.05, random, 3);
  EXPECT_GT(tails.beyond_others(0), 3);
  add(tails, 1, 0.5, 0.05, random, 126);
  EXPECT_EQ(tails.beyond_others(0), 0);
}

}  // namespace
}  // namespace paceline
