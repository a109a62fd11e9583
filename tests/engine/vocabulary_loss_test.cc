#include "engine/kernels/vocabulary_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace paceline {
namespace {

std::vector<float> random_logits(uint64_t seed, size_t count, double width) {
  RandomStream random({seed});
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>((random.uniform() * 2 - 1) * width);
  return values;
}

TEST(VocabularyLoss, LossAndGradientAreThoseOfASoftmax) {
  for (size_t count : {1, 2, 15, 16, 17, 1000, 30522})
    for (double width : {0.1, 5.0, 40.0}) {
      const auto logits = random_logits(count, count, width);
      const auto truth = static_cast<uint32_t>(count / 2);
      double sum = 0, largest = -1e30;
      for (float v : logits) largest = std::max<double>(largest, v);
      for (float v : logits) sum += std::exp(v - largest);
      auto gradient = logits;
      const RowLoss row = cross_entropy(count, truth, gradient.data());
      const double loss = std::log(sum) - (logits[truth] - largest);
      EXPECT_NEAR(row.loss, loss, 1e-6 * (1 + loss)) << count << " " << width;
      for (size_t i = 0; i < count; ++i)
        ASSERT_NEAR(gradient[i], std::exp(logits[i] - largest) / sum - (i == truth ? 1 : 0), 1e-6) << i;
    }
}

TEST(VocabularyLoss, RightIsTheFirstOfTheLargest) {
  const std::vector<float> logits = {1, 3, 2, 3, -5};
  for (uint32_t truth = 0; truth < logits.size(); ++truth) {
    auto copy = logits;
    EXPECT_EQ(cross_entropy(copy.size(), truth, copy.data()).right, truth == 1) << truth;
  }
}

TEST(VocabularyLoss, FarAwayLogitsDoNotOverflow) {
  std::vector<float> logits = {1e30f, -1e30f, 0};
  const RowLoss row = cross_entropy(3, 2, logits.data());
  EXPECT_NEAR(row.loss / 1e30, 1, 1e-6);
  EXPECT_FLOAT_EQ(logits[0], 1);
  EXPECT_FLOAT_EQ(logits[2], -1);
}

}  // namespace
}  // namespace paceline
