#include "engine/pace/pace.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "pace_simulation.h"

namespace paceline {
namespace {

TEST(PaceShares, AreTheBestOfAllThatWholeGrainsAllow) {
  RandomStream random{1};
  for (int round = 0; round < 200; ++round) {
    const std::vector<double> speeds = {0.1 + random.uniform(), 0.1 + random.uniform(),
                                        0.1 + random.uniform()};
    const std::vector<unsigned> executors = {1 + static_cast<unsigned>(random.below(3)), 1, 2};
    const uint64_t grains = 3 + random.below(20);
    const auto shares = best_shares(grains, speeds, executors);
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}), grains);
    double best = 1e9;
    for (uint64_t a = 1; a < grains - 1; ++a)
      for (uint64_t b = 1; a + b < grains; ++b)
        best = std::min(best, step_seconds(std::vector{a, b, grains - a - b}, speeds, executors));
    ASSERT_DOUBLE_EQ(step_seconds(shares, speeds, executors), best);
  }
}

TEST(PaceShares, EveryoneGetsAGrainWhileThereAreEnough) {
  const std::vector<unsigned> one(3, 1);
  EXPECT_EQ(best_shares(4, Speeds{100, 1, 1}, one), (std::vector<uint64_t>{2, 1, 1}));
  EXPECT_EQ(best_shares(2, Speeds{100, 1, 1}, one), (std::vector<uint64_t>{2, 0, 0}));
  EXPECT_EQ(best_shares(0, Speeds{100, 1, 1}, one), (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(best_shares(9, Speeds{0, 0, 0}, one), (std::vector<uint64_t>{3, 3, 3})) << "none is known";
  EXPECT_EQ(best_shares(6, Speeds{2, 0, 2}, one), (std::vector<uint64_t>{2, 2, 2})) << "one is not known";
}

TEST(PaceShares, ASpeedIsThatOfOneExecutor) {
  EXPECT_DOUBLE_EQ(executor_speed({3, 300, 2.0}, 2), 100) << "two rounds of a second each";
  EXPECT_DOUBLE_EQ(executor_speed({4, 400, 2.0}, 2), 100);
  EXPECT_DOUBLE_EQ(executor_speed({1, 100, 1.0}, 8), 100);
  EXPECT_EQ(executor_speed({0, 0, 0}, 2), 0) << "it had no grain";
}

TEST(Pace, AnUnknownPolicyIsNamed) {
  PaceOptions options;
  options.policy = "fast";
  options.executors = {1};
  try {
    make_pace(options);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "--pace fast: not a policy; use even, epoch, interval or pull");
  }
}

class EveryPace : public testing::TestWithParam<std::string> {
 protected:
  PaceOptions options() const {
    PaceOptions result;
    result.policy = GetParam();
    return result;
  }
  std::unique_ptr<Pace> make(std::vector<unsigned> executors) const {
    PaceOptions result = options();
    result.executors = std::move(executors);
    return make_pace(result);
  }
};

TEST_P(EveryPace, DealsEveryGrainOnceWhateverTheSpeeds) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random{seed};
    SimulatedRun run;
    Speeds speeds;
    for (uint64_t workers = 1 + random.below(6); workers > 0; --workers) {
      run.executors.push_back(1 + static_cast<unsigned>(random.below(4)));
      speeds.push_back(10000 *
                       (random.below(3) == 0 ? 0.05 + 0.1 * random.uniform() : 1 + 3 * random.uniform()));
    }
    run.speed = [=](size_t worker, double time) {
      return speeds[(worker + static_cast<size_t>(time / 20)) % speeds.size()];  // they change places
    };
    run.grains = static_cast<uint32_t>(random.below(40));
    run.wanted = 1 + static_cast<uint32_t>(random.below(6));
    run.noise_per_step = run.noise_per_grain = 0.3 * random.uniform();
    run.hiccup = 0.02;
    run.steps_per_epoch = 5;
    run.seed = seed;
    Simulation simulation(run, options());
    for (const SimulatedStep& step : simulation.steps(25))
      for (int times : step.dealt) ASSERT_EQ(times, 1) << "seed " << seed;
  }
}

TEST_P(EveryPace, DealsSeveralAtOnceAndAllEndTogether) {
  SimulatedRun run = constant_run({1, 1});
  run.executors = {2, 2};
  run.grains = 64;
  run.wanted = 4;
  const auto steps = Simulation(run, options()).steps(6);
  const auto& taken = steps.back().taken;
  EXPECT_EQ(taken.front().deal.count, 4u);
  std::vector<Deal> last(2);  // of each worker
  for (const auto& [worker, deal] : taken) {
    ASSERT_LE(deal.count, 4u);
    last[worker] = deal;
  }
  for (const Deal& deal : last) EXPECT_EQ(deal.count, 4u);
  EXPECT_LT(taken.size(), 40u);
  EXPECT_LT(steps.back().seconds, 1.01 * steps.back().limit);
}

TEST_P(EveryPace, AskingForAnyNumberGetsWhatThereIs) {
  for (uint32_t wanted : {0u, 1u, 7u, UINT32_MAX}) {
    auto pace = make({1, 2});
    uint32_t dealt = 0;
    for (double now = 1; now < 40; ++now)
      for (const auto& [worker, executor] : {std::pair{0u, 0u}, std::pair{1u, 0u}, std::pair{1u, 1u}}) {
        const Deal deal = pace->next({{1, 0, 12, 1200}, worker, executor, 1, wanted}, now);
        ASSERT_LE(deal.count, std::max(wanted, 1u));
        ASSERT_LE(uint64_t{deal.first} + deal.count, 12u);
        dealt += deal.count;
      }
    EXPECT_EQ(dealt, 12u) << wanted;
  }
}

TEST_P(EveryPace, GivesNothingForAWorkBeforeTheNewest) {
  auto pace = make({1, 1});
  const Work first{7, 0, 8, 800}, second{8, 0, 8, 800}, again{8, 1, 8, 800};
  EXPECT_TRUE(pace->next({first, 0, 0, 0}, 1).count);
  EXPECT_TRUE(pace->next({second, 0, 0, 0}, 2).count);
  EXPECT_FALSE(pace->next({first, 0, 0, 0.5}, 3).count);
  EXPECT_TRUE(pace->next({first, 1, 0, 0}, 4).count) << "the other worker is still there";
  EXPECT_TRUE(pace->next({again, 0, 0, 0}, 5).count) << "a second attempt is a new work";
  EXPECT_FALSE(pace->next({second, 0, 0, 0.5}, 6).count);
}

TEST_P(EveryPace, ANumberMayComeAgainAfterAnotherWork) {
  auto pace = make({2});
  const Work step{1, 0, 3, 300}, evaluation{1000, 0, 3, 300};
  for (int round = 0; round < 20; ++round)
    for (const Work& work : {step, evaluation}) {
      int grains = 0;
      for (uint32_t executor : {0u, 1u})
        while (pace->next({work, 0, executor, 0.1}, round).count) ++grains;
      ASSERT_EQ(grains, 3);
      EXPECT_FALSE(pace->next({work, 0, 0, 0}, round).count) << "none stays none";
    }
}

TEST_P(EveryPace, WhoComesLateGetsNothingTwice) {
  auto pace = make({1, 1});
  const Work first{1, 0, 4, 400}, second{2, 0, 4, 400};
  std::vector<int> dealt(4);
  auto take_all = [&](const Work& work, uint32_t worker) {
    for (Deal deal; (deal = pace->next({work, worker, 0, 0.1}, 1)).count > 0;) ++dealt[deal.first];
  };
  take_all(first, 0);
  pace->next({second, 0, 0, 0}, 2);
  take_all(first, 1);
  EXPECT_EQ(dealt, std::vector<int>(4, 1));
}

TEST_P(EveryPace, StrangeClaimsGetNothing) {
  auto pace = make({2, 1});
  const Work work{1, 0, 6, 600};
  EXPECT_FALSE(pace->next({work, 2, 0, 0}, 1).count);
  EXPECT_FALSE(pace->next({work, 1, 1, 0}, 1).count);
  EXPECT_FALSE(pace->next({{1, 0, 0, 0}, 0, 0, 0}, 1).count);
  EXPECT_EQ(pace->left({2, 0, 0, 0}, 1), 0u);
}

TEST_P(EveryPace, SaysWhatIsLeft) {
  auto pace = make({1});
  const Work work{1, 0, 3, 300};
  EXPECT_EQ(pace->left(work, 0), 3u);
  EXPECT_EQ(pace->next({work, 0, 0, 0}, 1).left, 2u);
  EXPECT_EQ(pace->left(work, 0), 2u);
  pace->next({work, 0, 0, 0.1}, 2);
  EXPECT_EQ(pace->next({work, 0, 0, 0.1}, 3).left, 0u);
  EXPECT_EQ(pace->left(work, 0), 0u);
}

TEST_P(EveryPace, FewerGrainsThanWorkersAreDealtToo) {
  SimulatedRun run = constant_run({1, 0.5, 2, 1, 1});
  run.grains = 2;
  for (const SimulatedStep& step : Simulation(run, options()).steps(50))
    EXPECT_EQ(std::accumulate(step.dealt.begin(), step.dealt.end(), 0), 2);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPace, testing::Values("even", "epoch", "interval", "pull"),
                         [](const auto& of) { return of.param; });

TEST(PaceEven, IsAsSlowAsTheSlowest) {
  const auto steps = Simulation(constant_run({1, 0.4}), policy("even")).steps(10);
  EXPECT_EQ(steps[0].shares, (std::vector<uint64_t>{16, 16}));
  EXPECT_NEAR(mean_over(steps, 0, &SimulatedStep::ideal), (16 * 0.25 + 0.05) / (3.2 / 1.4 + 0.05), 0.01);
  SimulatedRun odd = constant_run({1, 1, 1});
  EXPECT_EQ(Simulation(odd, policy("even")).step().shares, (std::vector<uint64_t>{11, 11, 10}));
}

TEST(PaceShares, AnExecutorTakesItsPartAtMost) {
  EXPECT_EQ(grains_at_once(32, 0, 2, 4), 4u);
  EXPECT_EQ(grains_at_once(4, 4, 2, 4), 4u) << "the other has its four already";
  EXPECT_EQ(grains_at_once(4, 3.9, 2, 4), 4u);
  EXPECT_EQ(grains_at_once(4, 2, 2, 4), 3u);
  EXPECT_EQ(grains_at_once(4, 0, 2, 4), 2u);
  EXPECT_EQ(grains_at_once(2, 9, 2, 4), 2u);
  EXPECT_EQ(grains_at_once(4, 0, 8, 4), 1u);
  EXPECT_EQ(grains_at_once(3, 0, 1, 4), 3u) << "nobody waits for it";
  EXPECT_EQ(grains_at_once(UINT32_MAX, 0, 3, UINT32_MAX), 1431655765u);
}

TEST(PaceShares, APartIsTakenInEqualPortions) {
  std::vector<uint32_t> portions;
  for (uint32_t left = 9; left > 0; left -= portions.back())
    portions.push_back(grains_at_once(left, 0, 1, 4));
  EXPECT_EQ(portions, (std::vector<uint32_t>{3, 3, 3})) << "not 4, 4 and one by itself";
  EXPECT_EQ(in_equal_portions(8, 4), 4u);
  EXPECT_EQ(in_equal_portions(5, 4), 3u);
  EXPECT_EQ(in_equal_portions(1, 4), 1u);
  EXPECT_EQ(in_equal_portions(3, 0), 1u);
}

// Two executors of one worker, of which one needs this many times the other's time for a grain.
std::vector<uint32_t> counts_of_deals(double slowness) {
  const auto pace = make_pace({.policy = "even", .executors = {2}});
  const Work work{.step = 1, .attempt = 0, .grains = 16, .tokens = 1600};
  double free[2] = {0, 0}, seconds[2] = {0, 0};
  std::vector<uint32_t> counts;
  for (;;) {
    const uint32_t executor = free[0] <= free[1] ? 0 : 1;
    const Deal deal = pace->next({work, 0, executor, seconds[executor], 4}, free[executor]);
    if (deal.count == 0) return counts;
    counts.push_back(deal.count);
    seconds[executor] = deal.count * (executor == 0 ? 1 : slowness);
    free[executor] += seconds[executor];
  }
}

TEST(PaceShares, ExecutorsOfOneWorkerEndTogether) {
  EXPECT_EQ(counts_of_deals(1.01), (std::vector<uint32_t>{4, 4, 4, 4}));
  EXPECT_EQ(counts_of_deals(2), (std::vector<uint32_t>{4, 4, 4, 2, 2}));
}

TEST(PaceEpoch, TakesTheSpeedsOfTheLastEpoch) {
  for (const Speeds& mix : mixes) {
    const auto steps = Simulation(constant_run(mix), policy("epoch")).steps(45);
    EXPECT_EQ(steps[0].shares, even_shares(32, mix.size()));
    EXPECT_LT(over_limit(steps, 21), 1.01) << mix.size() << " workers, the first at " << mix[0];
    EXPECT_EQ(changes_of_shares(steps, 21), 0u);
  }
}

TEST(PaceEpoch, AWorkerThatWasHeldUpInAStepIsNoSlowWorker) {
  PaceOptions options = policy("epoch");
  options.executors = {1, 1};
  for (uint64_t steps_an_epoch : {6, 100}) {
    const auto pace = make_pace(options);
    uint32_t share = 0;
    for (uint64_t step = 0; step < 3 * steps_an_epoch; ++step) {
      const Work work{step, 0, 32, 3200};
      share = pace->left(work, 0);
      const double held_up = step == steps_an_epoch + 2 ? 60 : 0;
      pace->add(work, step / steps_an_epoch,
                std::vector<WorkerStep>{{share, share * 100ull, share * 0.1 + held_up},
                                        {32 - share, (32 - share) * 100ull, (32 - share) * 0.2}});
    }
    EXPECT_EQ(share, 22u) << steps_an_epoch;
  }
}

}  // namespace
}  // namespace paceline
