#include "engine/kernels/transformer_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "engine/kernels/gemm.h"

namespace paceline {
namespace {

constexpr size_t widths[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 100};

std::vector<float> random_values(uint64_t seed, size_t count, double width = 2) {
  RandomStream random({seed});
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>((random.uniform() * 2 - 1) * width);
  return values;
}

// Sixteen sums side by side, then a tree: the order that all widths of vectors keep to. add(i, sum)
template <class Add>
float sixteen_sums(size_t count, const Add& add) {
  std::array<float, 16> sums{};
  for (size_t i = 0; i < count; ++i) sums[i % 16] = add(i, sums[i % 16]);
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

struct NormRow {
  std::vector<float> input, residual, weight, bias, normalized, out;
  explicit NormRow(size_t width)
      : input(random_values(1, width)),
        residual(random_values(2, width)),
        weight(random_values(3, width)),
        bias(random_values(4, width)),
        normalized(width),
        out(width) {}
  float forward(bool add) {
    return norm_forward({weight.data(), bias.data(), 1e-3f}, input.size(), input.data(),
                        add ? residual.data() : nullptr, normalized.data(), out.data());
  }
};

TEST(Norm, EveryBitIsThatOfAPlainLoop) {
  if (!fused_multiply_add()) GTEST_SKIP() << "this processor has no fused multiply-add";
  for (size_t width : widths)
    for (bool add : {false, true}) {
      NormRow row(width);
      const float scale = row.forward(add), share = 1 / static_cast<float>(width);
      std::vector<float> x = row.input;
      for (size_t i = 0; i < width && add; ++i) x[i] += row.residual[i];
      const float mean = share * sixteen_sums(width, [&](size_t i, float sum) { return sum + x[i]; });
      const float variance = share * sixteen_sums(width, [&](size_t i, float sum) {
                               return std::fma(x[i] - mean, x[i] - mean, sum);
                             });
      ASSERT_EQ(scale, 1 / std::sqrt(variance + 1e-3f)) << width;
      for (size_t i = 0; i < width; ++i) {
        ASSERT_EQ(row.normalized[i], (x[i] - mean) * scale) << width;
        ASSERT_EQ(row.out[i], std::fma(row.normalized[i], row.weight[i], row.bias[i])) << width;
      }
    }
}

// The weighted sum of a row's outputs, whose slope backward must be.
double weighted_norm(const NormRow& row, const std::vector<float>& factors, size_t changed, double change) {
  const auto width = static_cast<double>(row.input.size());
  std::vector<double> x(row.input.begin(), row.input.end());
  x[changed] += change;
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / width;
  double variance = 0, sum = 0;
  for (double v : x) variance += (v - mean) * (v - mean) / width;
  for (size_t i = 0; i < x.size(); ++i)
    sum += factors[i] * ((x[i] - mean) / std::sqrt(variance + 1e-3) * row.weight[i] + row.bias[i]);
  return sum;
}

TEST(Norm, BackwardIsTheSlopeOfForward) {
  for (size_t width : {2u, 17u, 48u}) {
    NormRow row(width);
    const float scale = row.forward(false);
    const auto d_out = random_values(5, width);
    std::vector<float> d_input = d_out, d_weight(width, 1), d_bias(width, 2);
    norm_backward(row.weight.data(), width, row.normalized.data(), scale, d_input.data(), d_input.data(),
                  d_weight.data(), d_bias.data());
    for (size_t i = 0; i < width; ++i) {
      const double slope = (weighted_norm(row, d_out, i, 1e-5) - weighted_norm(row, d_out, i, -1e-5)) / 2e-5;
      EXPECT_NEAR(d_input[i], slope, 1e-4) << width;
      EXPECT_NEAR(d_weight[i], 1 + d_out[i] * row.normalized[i], 1e-6);
      EXPECT_NEAR(d_bias[i], 2 + d_out[i], 1e-6);
    }
  }
}

double reference(Activation kind, double x) {
  if (kind == Activation::relu) return x > 0 ? x : 0;
  if (kind == Activation::gelu) return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
  return x * 0.5 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x)));
}

TEST(Activations, ValuesAndSlopesAreThoseOfTheLibrary) {
  for (Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    auto input = random_values(6, 4001, 12);
    input.insert(input.end(), {1e-8f, -1e-8f, 100, -100, 1e30f, -1e30f});
    const std::vector<float> ones(input.size(), 1);
    std::vector<float> out(input.size()), slopes(input.size());
    activation_forward(kind, input.size(), input.data(), out.data());
    activation_backward(kind, input.size(), input.data(), ones.data(), slopes.data());
    for (size_t i = 0; i < input.size(); ++i) {
      const double x = input[i], expected = reference(kind, x);
      ASSERT_NEAR(out[i], expected, 4e-7 * std::max(1.0, std::fabs(x))) << x;
      if (std::fabs(x) > 1e6) continue;
      const double slope = (reference(kind, x + 1e-6) - reference(kind, x - 1e-6)) / 2e-6;
      if (kind != Activation::relu || std::fabs(x) > 1e-5) {
        ASSERT_NEAR(slopes[i], slope, 2e-6) << x;
      }
    }
  }
}

TEST(Activations, AnElementsBitsDoNotDependOnItsPlace) {
  const auto input = random_values(7, 67, 5);
  for (Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    std::vector<float> together(input.size());
    activation_forward(kind, input.size(), input.data(), together.data());
    for (size_t i = 0; i < input.size(); ++i) {
      float alone = 0;
      activation_forward(kind, 1, &input[i], &alone);
      ASSERT_EQ(alone, together[i]);
    }
  }
}

TEST(Softmax, EqualsTheReference) {
  for (size_t count : widths)
    for (float scale : {0.125f, 1.f, 30.f}) {
      const auto input = random_values(8, count, 4);
      std::vector<float> out = input;
      softmax_forward(scale, count, out.data(), out.data());
      double largest = -1e300, sum = 0;
      for (float x : input) largest = std::max<double>(largest, x * scale);
      for (float x : input) sum += std::exp(x * scale - largest);
      for (size_t i = 0; i < count; ++i)
        ASSERT_NEAR(out[i], std::exp(static_cast<double>(input[i] * scale) - largest) / sum, 1e-6);
    }
}

TEST(Softmax, LargeScoresStayFiniteAndNotANumberStays) {
  std::vector<float> scores = {1e30f, -1e30f, 3, 1e30f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5};
  softmax_forward(1, scores.size(), scores.data(), scores.data());
  EXPECT_EQ(scores[0], 0.5f);
  EXPECT_LT(scores[1], 1e-37f);
  for (size_t place : {size_t{0}, size_t{16}}) {
    std::vector<float> broken(17, 1.f);
    broken[place] = std::numeric_limits<float>::quiet_NaN();
    softmax_forward(1, broken.size(), broken.data(), broken.data());
    EXPECT_TRUE(std::isnan(broken[place])) << place;
  }
}

TEST(Softmax, BackwardIsTheSlopeOfForward) {
  for (size_t count : {1u, 5u, 16u, 33u}) {
    const float scale = 0.5f;
    const auto input = random_values(9, count, 3), d_out = random_values(10, count);
    std::vector<float> p(count), d_input = d_out;
    softmax_forward(scale, count, input.data(), p.data());
    softmax_backward(scale, count, p.data(), d_input.data(), d_input.data());
    double mean = 0;
    for (size_t i = 0; i < count; ++i) mean += static_cast<double>(p[i]) * d_out[i];
    for (size_t i = 0; i < count; ++i) ASSERT_NEAR(d_input[i], scale * p[i] * (d_out[i] - mean), 1e-6);
  }
}

TEST(Tanh, ValuesAndSlopesAreThoseOfTheLibrary) {
  const auto input = random_values(11, 67, 8);
  std::vector<float> out(input.size()), slopes(input.size(), 1);
  tanh_forward(input.size(), input.data(), out.data());
  tanh_backward(input.size(), out.data(), slopes.data(), slopes.data());
  for (size_t i = 0; i < input.size(); ++i) {
    const double expected = std::tanh(static_cast<double>(input[i]));
    EXPECT_NEAR(out[i], expected, 3e-7);
    EXPECT_NEAR(slopes[i], 1 - expected * expected, 1e-6);
  }
}

}  // namespace
}  // namespace paceline
