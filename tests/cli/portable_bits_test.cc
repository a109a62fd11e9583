// Kernels that every processor has.
#include <cmath>

#include "training.h"

namespace paceline {
namespace {

class PortableBits : public Training {
 protected:
  static void train_lstm(const std::string& out, const Words& more) {
    Words all = {"train",       "--data", tiny_data(), "--model", "lstm",    "--out", out,
                 "--embedding", "16",     "--hidden",  "16",      "--steps", "20"};
    all.insert(all.end(), more.begin(), more.end());
    run_well(all);
  }
  // The event, with the time of another one.
  static Json at_the_time_of(Json event, const Json& other) {
    event["t"] = other.at("t");
    return event;
  }
  // Estimated from the sketches of two "weights" events.
  static double distance(const Json& a, const Json& b) {
    double squares = 0;
    for (size_t tensor = 0; tensor < a.at("tensors").size(); ++tensor) {
      const auto first = a.at("tensors").at(tensor).at("sketch").get<std::vector<double>>();
      const auto second = b.at("tensors").at(tensor).at("sketch").get<std::vector<double>>();
      for (size_t i = 0; i < first.size(); ++i) squares += std::pow(first[i] - second.at(i), 2);
    }
    return std::sqrt(squares);
  }
};

TEST_F(PortableBits, UseNoFusedMultiplicationAndDoNotDependOnExecutors) {
  train_lstm("one", {"--portable-bits", "--executors", "1"});
  train_lstm("three", {"--portable-bits", "--executors", "3"});
  EXPECT_TRUE(weights("one") == weights("three"));
  const std::string kernels = last("one", "worker").at("kernels");
  EXPECT_TRUE(kernels == "SSE4" || kernels == "SSSE3" || kernels == "SSE2") << kernels;
}

TEST_F(PortableBits, AreConfigurationThatAResumptionKeeps) {
  train_lstm("run", {"--portable-bits"});
  const std::string config = read_file("run/config.yaml");
  EXPECT_NE(config.find("portable-bits: true"), std::string::npos) << config;
  run_well(resume("run", {"--steps", "25"}));
  EXPECT_NE(last("run", "worker").at("kernels").get<std::string>().substr(0, 3), "AVX");
}

TEST_F(PortableBits, TwoRecordsTellTheClassesApartAndHowFarTheWeightsAre) {
  train_lstm("here", {"--executors", "1", "--evaluate-every", "10"});
  train_lstm("also-here", {"--executors", "3", "--evaluate-every", "10"});
  train_lstm("portable", {"--portable-bits", "--evaluate-every", "10"});
  const auto here = events("here", "weights"), other = events("portable", "weights");
  ASSERT_EQ(here.size(), 3u);
  EXPECT_EQ(here[0].at("step"), 0);
  EXPECT_EQ(here[2].at("step"), 20);
  EXPECT_EQ(last("here", "worker").at("class"), last("also-here", "worker").at("class"));
  EXPECT_EQ(here[2], at_the_time_of(events("also-here", "weights")[2], here[2]));
  if (last("here", "worker").at("kernels").get<std::string>().substr(0, 3) != "AVX")
    GTEST_SKIP() << "this processor has the portable class alone";
  EXPECT_NE(last("here", "worker").at("class"), last("portable", "worker").at("class"));
  EXPECT_EQ(here[0].at("hash"), other[0].at("hash")) << "both begin with the same weights";
  EXPECT_NE(here[2].at("hash"), other[2].at("hash"));
  const double apart = distance(here[2], other[2]), way = distance(here[0], here[2]);
  EXPECT_GT(apart, 0);
  EXPECT_LT(apart, 0.01 * way);
}

}  // namespace
}  // namespace paceline
