#include "engine/train/step_meter.h"

#include <gtest/gtest.h>

#include <thread>

namespace paceline {
namespace {

void pass(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST(StepMeter, PartsAddUpToTheStepAndTheClock) {
  const auto begin = std::chrono::steady_clock::now();
  StepMeter meter;
  pass(3);
  meter.lap(Phase::data);
  pass(5);
  meter.lap(Phase::compute);
  meter.lap(Phase::update);
  pass(2);
  meter.lap(Phase::compute);
  const auto seconds = meter.finish().to_json();
  const double clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double sum = 0;
  for (const auto& [name, value] : seconds.items())
    if (name != "step") sum += value.get<double>();
  EXPECT_DOUBLE_EQ(sum, seconds.at("step").get<double>());
  EXPECT_GE(seconds.at("data").get<double>(), 0.003);
  EXPECT_GE(seconds.at("compute").get<double>(), 0.007);
  EXPECT_LE(seconds.at("step").get<double>(), clock);
  EXPECT_FALSE(seconds.contains("save")) << "it did not occur";
}

TEST(StepMeter, AStepBeginsWhereTheOneBeforeEnded) {
  StepMeter meter;
  pass(3);
  meter.lap(Phase::compute);
  meter.finish();
  pass(4);
  meter.lap(Phase::evaluate);
  const auto seconds = meter.finish().to_json();
  EXPECT_GE(seconds.at("evaluate").get<double>(), 0.004);
  EXPECT_FALSE(seconds.contains("compute"));
}

TEST(StepMeter, WaitingIsTakenFromTheExchangeAndWhatIsHiddenIsNoPart) {
  StepMeter meter;
  pass(3);
  meter.lap(Phase::compute);
  pass(6);
  meter.lap(Phase::exchange);
  const double both = meter.seconds(Phase::exchange);
  meter.move(0.004, Phase::exchange, Phase::wait);
  meter.hide(0.002);
  const StepSeconds seconds = meter.finish();
  EXPECT_DOUBLE_EQ(seconds[Phase::wait], 0.004);
  EXPECT_DOUBLE_EQ(seconds[Phase::exchange], both - 0.004);
  EXPECT_DOUBLE_EQ(seconds.whole(), seconds[Phase::compute] + both);
  EXPECT_DOUBLE_EQ(seconds.to_json().at("exchange_hidden").get<double>(), 0.002);
}

}  // namespace
}  // namespace paceline
