// Kernels that every processor has.
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

}  // namespace
}  // namespace paceline
