// Sketches of weights: what two records say about the distance of two models.
#include "engine/train/weight_sketch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace paceline {
namespace {

constexpr uint64_t rows = 300, width = 70, stride = 80;

std::vector<float> random_values(uint64_t seed, float scale) {
  RandomStream random({seed});
  std::vector<float> values(rows * width);
  for (auto& value : values) value = scale * static_cast<float>(random.uniform() - 0.5);
  return values;
}

TensorView view_of(const std::vector<float>& values, const std::string& name = "weight") {
  return {name, {rows, width}, values.data(), rows, width, width};
}

double distance(const TensorSketch& a, const TensorSketch& b) {
  double squares = 0;
  for (size_t i = 0; i < a.sums.size(); ++i) squares += (a.sums[i] - b.sums[i]) * (a.sums[i] - b.sums[i]);
  return std::sqrt(squares);
}

TEST(WeightSketch, TheDifferenceOfTwoGivesTheDistanceOfTheTensors) {
  const std::vector<float> weights = random_values(1, 1);
  for (const float scale : {1e-6f, 1e-3f, 1.0f}) {
    std::vector<float> moved = weights;
    const std::vector<float> way = random_values(2, scale);
    double squares = 0;
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] += way[i];
      squares += std::pow(static_cast<double>(moved[i]) - static_cast<double>(weights[i]), 2);
    }
    double estimated = 0;  // over tensors of the same distance, whose signs differ
    for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      const double apart = distance(sketch_of(view_of(weights, name)), sketch_of(view_of(moved, name)));
      EXPECT_NEAR(apart / std::sqrt(squares), 1, 0.75) << name;
      estimated += apart * apart / 8;
    }
    EXPECT_NEAR(std::sqrt(estimated / squares), 1, 0.25);
  }
}

TEST(WeightSketch, NormCountAndHashAreThoseOfTheValues) {
  std::vector<float> weights = random_values(3, 2);
  const TensorSketch before = sketch_of(view_of(weights));
  double squares = 0;
  for (const float value : weights) squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_EQ(before.values, rows * width);
  EXPECT_NEAR(before.norm, std::sqrt(squares), 1e-9 * before.norm);
  EXPECT_EQ(sketch_of(view_of(weights)).hash, before.hash);
  weights.back() = std::nextafter(weights.back(), 10.0f);
  EXPECT_NE(sketch_of(view_of(weights)).hash, before.hash);
}

TEST(WeightSketch, DoesNotDependOnHowRowsLieInMemoryNorOnExecutors) {
  const std::vector<float> packed = random_values(4, 1);
  std::vector<float> spread(rows * stride, 7.0f);
  for (uint64_t row = 0; row < rows; ++row)
    std::copy_n(packed.data() + row * width, width, spread.data() + row * stride);
  const TensorView apart = {"weight", {rows, width}, spread.data(), rows, width, stride};
  for (const unsigned count : {1u, 3u}) {
    Executors executors(count);
    const auto sketches = sketches_of({view_of(packed), apart, view_of(packed, "other")}, executors);
    EXPECT_EQ(sketches[0].sums, sketches[1].sums);
    EXPECT_EQ(sketches[0].hash, sketches[1].hash);
    EXPECT_EQ(sketches[0].norm, sketches[1].norm);
    EXPECT_NE(sketches[0].sums, sketches[2].sums) << "each tensor has signs of its own";
    EXPECT_EQ(sketches[2].name, "other");
  }
}

}  // namespace
}  // namespace paceline
