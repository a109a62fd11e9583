// What a run of several workers records: who they were, what each did, and where the time of every step went.
#include "crew.h"

namespace paceline {
namespace {

class WorkersRecord : public Distributed {
 protected:
  static double sum_of_parts(const Json& seconds) {
    double sum = 0;
    for (const auto& [name, value] : seconds.items())
      if (name != "step" && name != "exchange_hidden") sum += value.get<double>();
    return sum;
  }
};

TEST_F(WorkersRecord, EveryStepOfEveryWorkerIsSplitIntoPartsThatAddUp) {
  run_well(train(trained_models().at(1), "run", workers(2, {"--steps", "200", "--evaluate-every", "1000"})));
  constexpr size_t count = 200;
  const auto steps = events("run", "step");
  ASSERT_EQ(steps.size(), count);
  double whole[2] = {};
  for (const Json& step : steps) {
    uint64_t grains = 0, tokens = 0;
    ASSERT_EQ(step.at("workers").size(), 2u);
    for (size_t rank = 0; rank < 2; ++rank) {
      const Json& worker = step.at("workers").at(rank);
      const double seconds = worker.at("seconds").at("step");
      EXPECT_EQ(worker.at("rank"), rank);
      EXPECT_NEAR(sum_of_parts(worker.at("seconds")), seconds, 0.02 * seconds) << worker;
      grains += worker.at("grains").get<uint64_t>();
      tokens += worker.at("tokens").get<uint64_t>();
      whole[rank] += seconds;
    }
    EXPECT_GE(grains, 8u);
    EXPECT_EQ(tokens, step.at("tokens")) << "a grain was computed twice or by nobody";
  }
  // By another clock: an event is written when the step after it has been computed.
  const double passed = steps[count - 2].at("t").get<double>() - steps[0].at("t").get<double>();
  const double edges =
      (steps[0].at("seconds").at("step").get<double>() + steps[1].at("seconds").at("step").get<double>());
  EXPECT_NEAR(whole[0] - edges, passed, 0.03 * passed);
  EXPECT_NEAR(whole[0], whole[1], 0.02 * whole[0]);
}

TEST_F(WorkersRecord, TheTimelineSaysWhoComputedWhichGrainAndWhen) {
  run_well(train(trained_models().at(0), "run", workers(2, {"--executors", "1", "--steps", "30"})));
  const auto timelines = events("run", "timeline");
  ASSERT_GE(timelines.size(), 20u);
  const auto steps = events("run", "step");
  for (size_t i = 0; i < 20; ++i) {
    std::array<uint64_t, 2> counted = {};
    std::array<double, 2> free_at = {};
    auto grains = timelines[i].at("grains").get<std::vector<std::array<double, 4>>>();
    std::sort(grains.begin(), grains.end(), [](const auto& a, const auto& b) { return a[2] < b[2]; });
    for (const auto& [worker, executor, begin, end] : grains) {
      const auto rank = static_cast<size_t>(worker);
      EXPECT_EQ(executor, 0);
      EXPECT_LE(begin, end);
      EXPECT_GE(begin, free_at.at(rank) - 2e-6) << "one executor, two grains at once";
      free_at[rank] = end;
      ++counted[rank];
    }
    for (size_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(steps[i].at("workers").at(rank).at("grains"), counted[rank]);
  }
}

TEST_F(WorkersRecord, EveryWorkerIsRecordedWithItsKernelClass) {
  run_well(train(trained_models().at(1), "run", workers(3, {"--steps", "3"})));
  const auto all = events("run", "worker");
  ASSERT_EQ(all.size(), 3u);
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(all[rank].at("rank"), rank);
    EXPECT_EQ(all[rank].at("class"), all[0].at("class"));
    EXPECT_FALSE(all[rank].at("host").get<std::string>().empty());
  }
  EXPECT_EQ(last("run", "run").at("workers"), 3);
}

}  // namespace
}  // namespace paceline
