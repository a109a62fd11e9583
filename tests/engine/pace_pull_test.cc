#include <gtest/gtest.h>

#include "pace_simulation.h"

namespace paceline {
namespace {

std::unique_ptr<Pace> pull_of_two() {
  PaceOptions options = policy("pull");
  options.executors = {1, 1};
  return make_pace(options);
}

TEST(PacePull, ReachesTheLimitOfWholeGrains) {
  for (const Speeds& mix : mixes)
    for (uint32_t grains : {16u, 32u, 100u}) {
      SimulatedRun run = constant_run(mix);
      run.grains = grains;
      const auto steps = Simulation(run, policy("pull")).steps(200);
      EXPECT_LT(over_limit(steps, 2), 1.02)
          << grains << " grains, " << mix.size() << " workers, first " << mix[0];
    }
}

TEST(PacePull, SeveralExecutorsAndNoiseCostAPartOfAGrain) {
  SimulatedRun run = constant_run({1, 0.4, 0.7});
  run.executors = {2, 3, 4};
  run.grains = 64;
  run.noise_per_grain = 0.1;
  const auto steps = Simulation(run, policy("pull")).steps(200);
  EXPECT_LT(mean_over(steps, 2, &SimulatedStep::ideal), 1.1);
}

TEST(PacePull, AJumpIsFollowedWithinTheStep) {
  SimulatedRun run = constant_run({1, 1});
  run.speed = [](size_t worker, double time) { return worker == 1 && time > 1020.7 ? 4000 : 10000; };
  const auto steps = Simulation(run, policy("pull")).steps(60);
  for (const SimulatedStep& step : steps) EXPECT_LT(step.seconds, 1.5 * step.limit);
  size_t jump = 0;
  while (steps[jump].limit == steps[0].limit) ++jump;
  EXPECT_LT(over_limit(steps, jump + 1), 1.02);
}

TEST(PacePull, WhatAskingTakesIsAPartOfAGrainsCost) {
  auto pace = pull_of_two();
  // A grain takes worker 0 a second, worker 1 three and a half, and that one hears of it a second later.
  const Work first{1, 0, 2, 2}, second{2, 0, 4, 4};
  pace->next({first, 0, 0, 0}, 0);
  pace->next({first, 1, 0, 0}, 0);
  EXPECT_EQ(pace->next({first, 0, 0, 1}, 1).count, 0u);
  EXPECT_EQ(pace->next({first, 1, 0, 3.5}, 4.5).count, 0u);
  EXPECT_EQ(pace->next({second, 1, 0, 0}, 10).count, 0u) << "until 14.5 the other has ended all four";
}

TEST(PacePull, WhatHandingGradientsOverTakesCountsToo) {
  for (double tail : {0.1, 1.3}) {  // seconds of the exchange after worker 1 ended last; 0.1 after worker 0
    auto pace = pull_of_two();
    // A grain takes worker 0 a second, worker 1 three.
    const Work first{1, 0, 2, 2}, second{2, 0, 4, 4};
    pace->next({first, 0, 0, 0}, 0);
    pace->next({first, 1, 0, 0}, 0);
    pace->next({first, 0, 0, 1}, 1);
    pace->next({first, 1, 0, 3}, 3);
    pace->add(first, 0, std::vector<WorkerStep>{{1, 1, 1, 0, 0.1, true}, {1, 1, 3, 0, 0.1, false}});
    pace->add(first, 0, std::vector<WorkerStep>{{1, 1, 1, 0, tail, false}, {1, 1, 3, 0, tail, true}});
    EXPECT_EQ(pace->next({second, 1, 0, 0}, 10).count, tail > 1 ? 0u : 1u)
        << "until 13 the other has ended three of four, until 14 all";
  }
}

TEST(PacePull, PausesOfAQuotaDoNotMatter) {
  SimulatedRun run = constant_run({1, 1});
  run.speed = [](size_t worker, double time) {
    return worker == 0 || std::fmod(time, 0.1) < 0.04 ? 10000.0 : 1e-9;  // 40 ms of every 100
  };
  const auto steps = Simulation(run, policy("pull")).steps(100);
  double seconds = 0;
  for (const SimulatedStep& step : steps) seconds += step.seconds;
  EXPECT_LT(seconds / 100, 1.05 * 32 * 0.1 / 1.4);
}

TEST(PacePull, AHiccupDoesNotExcludeAWorker) {
  SimulatedRun run = constant_run({1, 1});
  run.grains = 2;
  uint64_t slow_grains = 0;
  run.speed = [&](size_t worker, double time) {
    return worker == 1 && time > 1002 && time < 1004 ? 200 : 10000;
  };
  const auto steps = Simulation(run, policy("pull")).steps(600);
  for (size_t i = 300; i < 600; ++i) slow_grains += steps[i].shares[1];
  EXPECT_EQ(slow_grains, 300u);
}

// As SIGSTOP, or a machine that sleeps: a slow worker has one grain in a step, so only one tells its speed.
TEST(PacePull, WhoWasStoppedInAGrainGetsOneInTheNextStep) {
  SimulatedRun run = constant_run({20, 1});
  const double usual = Simulation(run, policy("pull")).steps(20).back().seconds;
  const double begin = 1000 + 10.3 * (usual + run.exchange_seconds), end = begin + 40 * usual;
  run.speed = [=, speed = run.speed](size_t worker, double time) {
    return time > begin && time < end ? 1e-9 : speed(worker, time);
  };
  const auto steps = Simulation(run, policy("pull")).steps(20);
  size_t stopped = 0;
  for (size_t i = 2; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].shares[1], 1u) << i;
    if (steps[i].seconds > 30 * usual) stopped = i;
  }
  EXPECT_GT(stopped, 2u);
}

TEST(PacePull, TryingSlowWorkersAgainCostsLittle) {
  SimulatedRun run = constant_run({20, 1, 1, 1, 1});
  run.grains = 4;
  const auto steps = Simulation(run, policy("pull")).steps(3000);
  EXPECT_LT(over_limit(steps, 10), 1.03);
  uint64_t tried = 0;
  for (const SimulatedStep& step : steps) tried += step.shares[1];
  EXPECT_GT(tried, 1u);
}

TEST(PacePull, AWorkerThatIsFarSlowerDoesNotHoldUpANoisyOne) {
  const auto mean_seconds = [](const Speeds& speeds) {
    SimulatedRun run = constant_run(speeds);
    run.noise_per_step = 0.15;
    run.noise_per_grain = 0.4;
    run.hiccup = 0.01;
    double seconds = 0;
    for (const SimulatedStep& step : Simulation(run, policy("pull")).steps(500)) seconds += step.seconds;
    return seconds / 500;
  };
  EXPECT_LT(mean_seconds({38, 1}), 1.03 * mean_seconds({38}));
}

TEST(PacePull, GrainsAtOnceReachTheLimitOfSingleOnes) {
  for (const Speeds& mix : mixes)
    for (uint32_t grains : {16u, 32u, 100u}) {
      SimulatedRun run = constant_run(mix);
      run.grains = grains;
      run.wanted = 4;
      const auto steps = Simulation(run, policy("pull")).steps(200);
      EXPECT_LT(over_limit(steps, 2), 1.02)
          << grains << " grains, " << mix.size() << " workers, first " << mix[0];
    }
}

TEST(PacePull, ASlowWorkerTakesOneAtATime) {
  SimulatedRun run = constant_run({20, 1});
  run.wanted = 4;
  for (const SimulatedStep& step : Simulation(run, policy("pull")).steps(50))
    for (const auto& [worker, deal] : step.taken) EXPECT_LE(deal.count, worker == 1 ? 1u : 4u);
}

TEST(PacePull, WhileSpeedsAreUnknownGrainsAreDealtOneByOne) {
  SimulatedRun run = constant_run({1, 1});
  run.wanted = 4;
  Simulation simulation(run, policy("pull"));
  const auto& first = simulation.step().taken;
  EXPECT_EQ(first[0].deal.count, 1u);
  EXPECT_EQ(first[1].deal.count, 1u);
  EXPECT_EQ(simulation.step().taken[0].deal.count, 4u);
}

TEST(PacePull, WhoIsAtSeveralGrainsIsExpectedToBeFreeAfterAllOfThem) {
  auto pace = pull_of_two();
  // A grain takes worker 0 a second, worker 1 a little over five.
  const Work first{1, 0, 2, 2}, second{2, 0, 6, 6};
  pace->next({first, 0, 0, 0}, 0);
  pace->next({first, 1, 0, 0}, 0);
  EXPECT_FALSE(pace->next({first, 0, 0, 1}, 1).count);
  EXPECT_FALSE(pace->next({first, 1, 0, 5.2}, 5.2).count);
  EXPECT_EQ(pace->next({second, 0, 0, 0, 2}, 10).count, 2u);
  EXPECT_EQ(pace->next({second, 1, 0, 0, 2}, 10).count, 1u)
      << "until 15.2 the other can end three more after its two, and four are left";
}

TEST(PacePull, TheCostOfAGrainIsItsPartOfWhatWasComputedAtOnce) {
  auto pace = pull_of_two();
  const Work first{1, 0, 2, 2}, second{2, 0, 8, 8}, third{3, 0, 9, 9};
  for (uint32_t worker : {0u, 1u}) pace->next({first, worker, 0, 0}, 0);
  for (uint32_t worker : {0u, 1u}) EXPECT_FALSE(pace->next({first, worker, 0, 1}, 1).count);
  EXPECT_EQ(pace->next({second, 0, 0, 0, 2}, 10).count, 2u);
  EXPECT_EQ(pace->next({second, 0, 0, 2, 2}, 12).count, 2u);
  pace->next({second, 0, 0, 2, 2}, 14);
  // Had two seconds for two grains counted as those of one, its part would be three.
  EXPECT_EQ(pace->next({third, 0, 0, 0, 8}, 20).count, 5u);
}

// An executor that knows that it is at its last grains sends its gradients while it computes them.
TEST(PacePull, WhatIsDealtAsTheLastIsTheLast) {
  auto pace = pull_of_two();
  const Work first{1, 0, 2, 2}, second{2, 0, 12, 12};
  for (uint32_t worker : {0u, 1u}) pace->next({first, worker, 0, 0}, 0);
  EXPECT_FALSE(pace->next({first, 0, 0, 1}, 1).count);
  EXPECT_FALSE(pace->next({first, 1, 0, 2}, 2).count);
  Deal deal = pace->next({second, 0, 0, 0, 4}, 10);
  EXPECT_EQ(deal.count, 4u);
  EXPECT_EQ(deal.left, 8u) << "of its eight only four";
  deal = pace->next({second, 1, 0, 0, 4}, 10);
  EXPECT_EQ(deal.count, 4u) << "until 18 it can end four, and the other the rest";
  EXPECT_EQ(deal.left, 0u) << "nothing more for this one";
  deal = pace->next({second, 0, 0, 4, 4}, 14);
  EXPECT_EQ(deal.count, 4u);
  EXPECT_EQ(deal.left, 0u);
  EXPECT_FALSE(pace->next({second, 1, 0, 8, 4}, 18).count);
  EXPECT_FALSE(pace->next({second, 0, 0, 4, 4}, 18).count);
}

TEST(PacePull, WhoHadItsLastGetsNoMoreAndWhoIsLeftTakesTheRest) {
  auto pace = pull_of_two();
  const Work first{1, 0, 2, 2}, second{2, 0, 4, 4};
  for (uint32_t worker : {0u, 1u}) pace->next({first, worker, 0, 0}, 0);
  for (uint32_t worker : {0u, 1u}) EXPECT_FALSE(pace->next({first, worker, 0, 1}, 1).count);
  EXPECT_EQ(pace->next({second, 0, 0, 0, 4}, 10).count, 2u);
  EXPECT_FALSE(pace->next({second, 0, 0, 2, 4}, 12).count)
      << "the other is late, but the gradients have left";
  EXPECT_EQ(pace->next({second, 1, 0, 0, 4}, 30).count, 2u);
  EXPECT_FALSE(pace->next({second, 1, 0, 2, 4}, 32).count);
}

TEST(PacePull, TheLastWhoAsksGetsTheRest) {
  auto pace = pull_of_two();
  // Worker 0 is fast, worker 1 takes a hundred times as long.
  const Work first{1, 0, 3, 3}, second{2, 0, 2, 2};
  pace->next({first, 0, 0, 0}, 0);
  pace->next({first, 1, 0, 0}, 0);
  EXPECT_TRUE(pace->next({first, 0, 0, 1}, 1).count);
  EXPECT_FALSE(pace->next({first, 0, 0, 1}, 2).count);
  EXPECT_FALSE(pace->next({first, 1, 0, 100}, 100).count);
  EXPECT_FALSE(pace->next({second, 1, 0, 0}, 101).count) << "the other could do both long before";
  EXPECT_TRUE(pace->next({second, 0, 0, 0}, 101).count);
  EXPECT_TRUE(pace->next({second, 0, 0, 500}, 601).count) << "now slow, but nobody else is there";
  EXPECT_FALSE(pace->next({second, 0, 0, 500}, 1101).count);
}

TEST(Pace, AQuotaThatChangesEveryTenSecondsIsFollowed) {
  for (const auto& [name, least] : {std::pair("interval", 0.9), std::pair("pull", 0.96)}) {
    SimulatedRun run = constant_run({1, 1});
    run.tokens_per_grain = 200;
    run.noise_per_step = run.noise_per_grain = 0.03;
    run.exchange_seconds = 0.01;
    run.speed = [](size_t worker, double time) {
      return worker == 1 && std::fmod(time, 20) < 10 ? 4000 : 10000;
    };
    double ideal = 0, seconds = 0;
    for (const SimulatedStep& step : Simulation(run, policy(name)).steps(500))
      ideal += step.ideal, seconds += step.seconds;
    EXPECT_GT(ideal / seconds, least) << name;
  }
}

}  // namespace
}  // namespace paceline
