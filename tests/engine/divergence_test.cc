#include "engine/train/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/hash.h"

namespace paceline {
namespace {

// Even noise in [0, 1) that depends on the step alone.
double noise(uint64_t step) { return static_cast<double>(mix64(step + 1) >> 11) * 0x1p-53; }

// The step at which it says so; 0: never.
uint64_t diverges_at(uint64_t steps, const std::function<double(uint64_t)>& loss) {
  DivergenceWatch watch;
  for (uint64_t step = 1; step <= steps; ++step)
    if (watch.add(step, loss(step))) return step;
  return 0;
}

TEST(Divergence, NoiseIsNoDivergence) {
  EXPECT_EQ(diverges_at(20000, [](uint64_t step) { return 0.2 + noise(step); }), 0u);
  // Small batches: mostly near zero, now and then large.
  EXPECT_EQ(diverges_at(20000, [](uint64_t step) { return std::pow(noise(step), 8) * 5; }), 0u);
}

TEST(Divergence, AFallingLossWithSpikesThatRecoverIsNoDivergence) {
  auto spikes = [](double height, uint64_t width) {
    return [=](uint64_t step) {
      const double usual = 0.1 + 0.6 * std::exp(-static_cast<double>(step) / 500);
      return step % 700 >= 700 - width ? height : usual;
    };
  };
  EXPECT_EQ(diverges_at(10000, spikes(50, 1)), 0u);
  EXPECT_EQ(diverges_at(10000, spikes(1e9, 5)), 0u);
  EXPECT_EQ(diverges_at(10000, spikes(10, 10)), 0u);
}

TEST(Divergence, AnExplosionIsNoticedWithinAHundredSteps) {
  for (uint64_t begin : {150u, 1000u, 30000u}) {
    auto explodes = [begin](uint64_t step) {
      const double usual = 0.1 + 0.6 * std::exp(-static_cast<double>(step) / 500) + 0.1 * noise(step);
      return step < begin ? usual : std::min(1e30, usual * std::pow(1.2, static_cast<double>(step - begin)));
    };
    const uint64_t noticed = diverges_at(begin + 1000, explodes);
    EXPECT_GT(noticed, begin);
    EXPECT_LE(noticed, begin + 100);
  }
}

TEST(Divergence, AnExplosionInTheVeryFirstStepsIsNoticed) {
  for (uint64_t good : {1u, 5u, 19u}) {
    const uint64_t noticed =
        diverges_at(1000, [good](uint64_t step) { return step <= good ? 0.69 : 135 * (0.5 + noise(step)); });
    EXPECT_GT(noticed, DivergenceWatch::quiet_steps) << good;
    EXPECT_LE(noticed, 2 * DivergenceWatch::quiet_steps) << good;
  }
}

TEST(Divergence, AFirstLossThatIsSmallByChanceIsNoMeasure) {
  EXPECT_EQ(diverges_at(2000, [](uint64_t step) { return step == 1 ? 0.01 : 0.5 + 0.3 * noise(step); }), 0u);
}

TEST(Divergence, ALossThatStaysHighIsNoticed) {
  const uint64_t noticed =
      diverges_at(3000, [](uint64_t step) { return step < 2000 ? 0.69 + 0.1 * noise(step) : 12.0; });
  EXPECT_GT(noticed, 2000u);
  EXPECT_LE(noticed, 2100u);
}

TEST(Divergence, NothingIsSaidInTheFirstHundredSteps) {
  const uint64_t noticed = diverges_at(1000, [](uint64_t step) { return step <= 20 ? 0.7 : 100.0; });
  EXPECT_GT(noticed, DivergenceWatch::quiet_steps);
}

TEST(Divergence, LossesNearZeroMayDouble) {
  EXPECT_EQ(diverges_at(5000, [](uint64_t step) { return step < 1000 ? 1e-6 : 1e-3; }), 0u);
  EXPECT_EQ(diverges_at(5000, [](uint64_t) { return 0.0; }), 0u);
  EXPECT_NE(diverges_at(5000, [](uint64_t step) { return step < 1000 ? 1e-6 : 3.0; }), 0u);
}

TEST(Divergence, GoesOnFromItsState) {
  auto loss = [](uint64_t step) { return step < 500 ? 0.5 : 9.0; };
  DivergenceWatch whole;
  uint64_t noticed = 0;
  for (uint64_t step = 1; noticed == 0; ++step)
    if (whole.add(step, loss(step))) noticed = step;
  EXPECT_GE(whole.calm_step(), 495u);
  EXPECT_LE(whole.calm_step(), 510u);
  for (uint64_t cut : {7u, 300u, 505u}) {
    DivergenceWatch first, second;
    for (uint64_t step = 1; step <= cut; ++step) ASSERT_FALSE(first.add(step, loss(step)));
    second.load(nlohmann::json::parse(first.state().dump()));
    for (uint64_t step = cut + 1; step < noticed; ++step) ASSERT_FALSE(second.add(step, loss(step)));
    EXPECT_TRUE(second.add(noticed, loss(noticed))) << cut;
    EXPECT_EQ(second.state(), whole.state()) << cut;
  }
}

}  // namespace
}  // namespace paceline
