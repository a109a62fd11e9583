// A model's bytes depend on the data, the configuration and the seed, never on who computed what.
#include <signal.h>

#include <map>

#include "crew.h"

namespace paceline {
namespace {

class SharedWork : public Distributed, public ::testing::WithParamInterface<TrainedModel> {
 protected:
  // Trained by one worker with one executor.
  static const std::string& alone(const Words& more) {
    static std::map<std::pair<std::string, Words>, std::string> known;
    std::string& bytes = known[{GetParam().name, more}];
    if (bytes.empty()) {
      run_well(train(GetParam(), "alone", joined(workers(1, {"--executors", "1"}), more)));
      bytes = weights("alone");
    }
    return bytes;
  }
  static void is_the_same(const std::string& name, const Words& how, const Words& more = steps) {
    run_well(train(GetParam(), name, joined(how, more)));
    EXPECT_TRUE(weights(name) == alone(more)) << name << " differs from one worker alone";
  }
  static inline const Words steps = {"--steps", "30"};
};

TEST_P(SharedWork, DoesNotDependOnWorkersAndExecutors) {
  is_the_same("1x2", workers(1, {"--executors", "2"}));
  is_the_same("2x1", workers(2, {"--executors", "1"}));
  is_the_same("2x2", workers(2, {"--executors", "2"}));
  is_the_same("3x1", workers(3, {"--executors", "1"}));
}

TEST_P(SharedWork, DoesNotDependOnThePace) {
  is_the_same("even", workers(2, {"--pace", "even"}));
  is_the_same("epoch", workers(2, {"--pace", "epoch"}));
  is_the_same("interval", workers(2, {"--pace", "interval", "--pace-interval", "3"}));
}

TEST_P(SharedWork, GoesOnWithAnotherNumberOfWorkers) {
  const Words many = {"--steps", GetParam().name == std::string("ngram") ? "700" : "150", "--save-every",
                      "20"};
  Process process(with_program(train(GetParam(), "cut", workers(2, many))));
  ASSERT_TRUE(until(process, [] { return checkpoints("cut").size() >= 2; }));
  process.signal(SIGKILL);
  ASSERT_EQ(process.wait().code, -SIGKILL) << "it was over before";
  ASSERT_TRUE(all_are_gone("cut"));
  run_well(resume("cut", workers(3)));
  EXPECT_TRUE(weights("cut") == alone(many));
}

TEST_P(SharedWork, FewerGrainsThanWorkersAreNoProblem) {
  const Words one = {"--batch-size", "8", "--steps", "12"};
  is_the_same("one", workers(3, {"--pace", "even"}), one);
  is_the_same("pulled", workers(3), one);
}

INSTANTIATE_TEST_SUITE_P(SameBits, SharedWork, ::testing::ValuesIn(trained_models()),
                         [](const auto& model) { return std::string(model.param.name); });

}  // namespace
}  // namespace paceline
