#include <gtest/gtest.h>

#include "pace_simulation.h"

namespace paceline {
namespace {

TEST(PaceInterval, ReachesTheLimitAfterTheFirstInterval) {
  for (const Speeds& mix : mixes) {
    const auto steps = Simulation(constant_run(mix), policy("interval")).steps(60);
    EXPECT_EQ(steps[0].shares, even_shares(32, mix.size()));
    EXPECT_LT(over_limit(steps, 5), 1.03) << mix.size() << " workers, the first at " << mix[0];
  }
}

TEST(PaceInterval, ExecutorsCount) {
  SimulatedRun run = constant_run({1, 1, 0.3});
  run.executors = {1, 4, 3};
  run.grains = 62;
  EXPECT_LT(over_limit(Simulation(run, policy("interval")).steps(60), 5), 1.03);
}

TEST(PaceInterval, AJumpIsFollowedWithinThreeSteps) {
  for (double slower : {0.4, 0.7}) {
    SimulatedRun run = constant_run({1, 1});
    run.noise_per_step = 0.03;
    run.speed = [=](size_t worker, double time) {
      return worker == 1 && time > 1060 ? 10000 * slower : 10000;
    };
    const auto steps = Simulation(run, policy("interval")).steps(120);
    size_t jump = 0;
    while (steps[jump].limit == steps[0].limit) ++jump;
    ASSERT_LT(jump, 50u);
    EXPECT_LT(over_limit(steps, jump + 4), 1.07) << slower;
    EXPECT_LT(steps[jump + 3].seconds, 1.09 * steps[jump + 3].limit) << slower;
  }
}

TEST(PaceInterval, ADriftIsFollowed) {
  SimulatedRun run = constant_run({1, 1});
  run.grains = 64;
  run.noise_per_step = 0.03;
  run.speed = [](size_t worker, double time) { return 10000 / (worker == 0 ? 1 : 1 + (time - 1000) / 500); };
  EXPECT_LT(over_limit(Simulation(run, policy("interval")).steps(150), 5), 1.08);
}

TEST(PaceInterval, NoiseDoesNotMakeSharesOscillate) {
  for (const Speeds& mix : mixes)
    for (double noise : {0.03, 0.1}) {
      SimulatedRun run = constant_run(mix);
      run.noise_per_step = noise;
      run.grains = 128;
      const auto steps = Simulation(run, policy("interval")).steps(400);
      EXPECT_LE(changes_of_shares(steps, 30), 6u)
          << mix.size() << " workers, the first at " << mix[0] << ", " << noise;
      EXPECT_LT(over_limit(steps, 30), 1.04 + noise) << mix.size() << " workers, the first at " << mix[0];
    }
}

// A quota of processor time makes the slow worker's steps differ by some percent. Of 32 grains 24 : 8 are
// best at first, then 23 : 9, which gain 4 %: that noise must not hide them.
TEST(PaceInterval, NoiseOfTheSlowWorkerDoesNotCostAGrain) {
  for (double noise : {0.0, 0.05, 0.1})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      SimulatedRun run = constant_run({1, 0.4});
      RandomStream random{seed};
      Speeds off;
      for (int i = 0; i < 1000; ++i) off.push_back(1 + noise * (2 * random.uniform() - 1));
      run.speed = [=](size_t worker, double time) {
        const double slow = (time < 1060 ? 0.35 : 0.4) * off[static_cast<size_t>(time / 2.4) % off.size()];
        return 10000 * (worker == 0 ? 1 : slow);
      };
      const auto steps = Simulation(run, policy("interval")).steps(200);
      EXPECT_EQ(steps.back().shares, (std::vector<uint64_t>{23, 9})) << noise << ", seed " << seed;
      EXPECT_LT(over_limit(steps, 60), 1.015 + noise / 4) << noise << ", seed " << seed;
    }
}

TEST(PaceInterval, RareHiccupsCostLittle) {
  SimulatedRun run = constant_run({1, 0.5});
  run.noise_per_step = 0.03;
  run.speed = [](size_t worker, double time) {
    const bool hiccup = worker == 0 && std::fmod(time, 100) < 2;
    return (worker == 0 ? 10000 : 5000) * (hiccup ? 0.3 : 1);
  };
  EXPECT_LT(over_limit(Simulation(run, policy("interval")).steps(400), 5), 1.06);
}

TEST(PaceInterval, OneStepThatDiffersIsNotBelievedUnlessSpeedsChangeLikeThat) {
  PaceOptions options = policy("interval");
  options.executors = {1, 1};
  struct Case {
    double times;                                 // as long as usual, of the first worker
    uint32_t after_one, least_after, most_after;  // its share after one such step, and after two
  };
  for (const Case& each : {Case{1.6, 29, 25, 28}, {3, 23, 20, 26}, {60, 29, 1, 4}, {1 / 1.6, 29, 30, 31}}) {
    const auto pace = make_pace(options);
    auto step = [&, number = uint64_t{0}](double times) mutable {
      const Work work{++number, 0, 32, 3200};
      const uint32_t share = pace->left(work, 0);
      pace->add(work, 0,
                std::vector<WorkerStep>{{share, share * 100ull, share * times * 0.1},
                                        {32 - share, (32 - share) * 100ull, (32 - share) * 0.8}});
      return share;
    };
    for (int i = 0; i < 31; ++i) step(1);
    EXPECT_EQ(step(each.times), 29u);
    EXPECT_EQ(step(1), each.after_one) << each.times << " times, once";
    for (int i = 0; i < 31; ++i) step(1);
    EXPECT_EQ(step(each.times), 29u);
    EXPECT_EQ(step(each.times), each.after_one) << each.times << " times, the second one";
    const uint32_t after = step(each.times);
    EXPECT_GE(after, each.least_after) << each.times << " times, twice in a row";
    EXPECT_LE(after, each.most_after) << each.times << " times, twice in a row";
  }
}

TEST(PaceInterval, AWorkerThatHasNoTimeBesideItsOwnWorkGetsNoGrain) {
  PaceOptions options = policy("interval");
  options.executors = {1, 1};
  for (const auto& [own, share] : {std::pair{0.1, 1u}, {1.2, 0u}}) {  // of the second worker
    const auto pace = make_pace(options);
    Work work{0, 0, 32, 3200};
    for (; work.step < 40; ++work.step) {
      const uint32_t second = pace->left(work, 1), first = 32 - second;
      pace->add(work, 0,
                std::vector<WorkerStep>{{first, first * 100ull, first * 0.05, 0.02},
                                        {second, second * 100ull, second * 1.0, own}});
    }
    EXPECT_EQ(pace->left(work, 1), share) << own;
  }
}

// Its grain ends just in time, but nobody has its gradients then.
TEST(PaceInterval, AWorkerThatHandsItsGradientsOverLateGetsNoGrainThatEndsJustInTime) {
  PaceOptions options = policy("interval");
  options.executors = {1, 1};
  for (const auto& [tail, share] : {std::pair{0.01, 1u}, {0.2, 0u}}) {  // when the second worker ends last
    const auto pace = make_pace(options);
    Work work{0, 0, 32, 3200};
    bool second_was_last = false;
    for (; work.step < 40; ++work.step) {
      const uint32_t second = pace->left(work, 1), first = 32 - second;
      const double exchange = second_was_last ? tail : 0.01;
      pace->add(
          work, 0,
          std::vector<WorkerStep>{{first, first * 100ull, first * 0.05, 0.02, exchange, !second_was_last},
                                  {second, second * 100ull, second * 1.56, 0.02, exchange, second_was_last}});
      second_was_last = second > 0;
    }
    EXPECT_EQ(pace->left(work, 1), share) << tail;
  }
}

TEST(PaceInterval, AWorkerWithoutAGrainIsMeasuredNowAndThen) {
  SimulatedRun run = constant_run({1, 1});
  run.grains = 4;
  run.speed = [](size_t worker, double time) { return worker == 1 && time < 1100 ? 200 : 10000; };
  const auto steps = Simulation(run, policy("interval")).steps(400);
  EXPECT_EQ(steps[10].shares, (std::vector<uint64_t>{4, 0}));
  EXPECT_EQ(steps.back().shares, (std::vector<uint64_t>{2, 2}));
}

TEST(PaceInterval, TwoThatAreToldTheSameDecideTheSame) {
  RandomStream random{3};
  PaceOptions options = policy("interval");
  options.executors = {1, 2, 1};
  auto one = make_pace(options), two = make_pace(options);
  for (uint64_t step = 1; step < 200; ++step) {
    const Work work{step, 0, 50, 5000};
    for (uint32_t worker = 0; worker < 3; ++worker)
      ASSERT_EQ(one->left(work, worker), two->left(work, worker));
    one->next({work, 0, 0, 0}, 1);
    two->next({work, 2, 0, 0}, 77);
    std::vector<WorkerStep> workers;
    for (double speed : {1.0, 1.3, 0.2}) workers.push_back({16, 1600, random.uniform() / speed});
    one->add(work, 0, workers);
    two->add(work, 0, workers);
  }
}

}  // namespace
}  // namespace paceline
