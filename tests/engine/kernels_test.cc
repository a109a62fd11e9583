#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/gradient_loops.h"
#include "engine/kernels/recurrent_cells.h"

namespace paceline {
namespace {

std::vector<float> random_values(uint64_t seed, size_t count) {
  RandomStream random({seed});
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.uniform() * 2 - 1);
  return values;
}

// One chain of fused multiply-adds in the order of k.
float chain(const float* left, size_t step, const float* right, size_t stride, size_t depth, float start) {
  for (size_t k = 0; k < depth; ++k) start = std::fma(left[k * step], right[k * stride], start);
  return start;
}

TEST(Gemm, EveryElementIsOneChainInTheOrderOfK) {
  if (!fused_multiply_add()) GTEST_SKIP() << "this processor has no fused multiply-add";
  for (size_t rows : {1, 2, 5, 6, 7, 13, 31, 300})
    for (size_t depth : {1, 3, 64, 300})
      for (size_t columns : {1, 7, 16, 33, 70}) {
        const auto a = random_values(1, rows * depth), b = random_values(2, depth * columns),
                   bias = random_values(3, columns);
        PackedMatrix packed, transposed;
        packed.pack(b.data(), depth, columns, columns);
        std::vector<float> flipped(b.size());
        for (size_t k = 0; k < depth; ++k)
          for (size_t j = 0; j < columns; ++j) flipped[j * depth + k] = b[k * columns + j];
        transposed.pack_transposed(flipped.data(), depth, columns, depth);
        auto out = random_values(4, rows * columns);
        const auto before = out;
        std::vector<float> zero(out.size()), biased(out.size());
        multiply(rows, {a.data(), depth}, packed, {out.data(), columns}, Start::add);
        multiply(rows, {a.data(), depth}, transposed, {zero.data(), columns}, Start::zero);
        multiply(rows, {a.data(), depth}, packed, {biased.data(), columns}, Start::bias, bias.data());
        for (size_t i = 0; i < rows; ++i)
          for (size_t j = 0; j < columns; ++j) {
            const size_t at = i * columns + j;
            const float* left = a.data() + i * depth;
            ASSERT_EQ(out[at], chain(left, 1, b.data() + j, columns, depth, before[at]));
            ASSERT_EQ(zero[at], chain(left, 1, b.data() + j, columns, depth, 0));
            ASSERT_EQ(biased[at], chain(left, 1, b.data() + j, columns, depth, bias[j]));
          }
      }
}

TEST(Gemm, RowListsReadAndWriteThoseRows) {
  const size_t depth = 20, columns = 18;
  const auto a = random_values(1, 50 * depth), b = random_values(2, depth * columns);
  PackedMatrix packed;
  packed.pack(b.data(), depth, columns, columns);
  const std::vector<uint32_t> from = {3, 3, 49, 0, 17, 8, 21}, to = {6, 5, 4, 3, 2, 1, 0};
  std::vector<float> plain(50 * columns), listed(7 * columns);
  multiply(50, {a.data(), depth}, packed, {plain.data(), columns}, Start::zero);
  multiply(7, {a.data(), depth, from.data()}, packed, {listed.data(), columns, to.data()}, Start::zero);
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < columns; ++j) EXPECT_EQ(listed[to[i] * columns + j], plain[from[i] * columns + j]);
}

TEST(Gemm, ATransposedProductIsOneChainAlsoAcrossItsBlocks) {
  if (!fused_multiply_add()) GTEST_SKIP() << "this processor has no fused multiply-add";
  ProductScratch scratch;
  for (size_t depth : {0, 1, 255, 256, 700})
    for (size_t left : {1, 6, 13, 100, 210})
      for (size_t right : {1, 16, 35}) {
        const auto a = random_values(1, depth * left), b = random_values(2, depth * right);
        const auto other = random_values(3, depth * 21);
        std::vector<float> out(left * right, 7.f), second(left * 21, 7.f);
        const RightSide rights[] = {{{b.data(), right}, right, out.data(), right},
                                    {{other.data(), 21}, 21, second.data(), 21}};
        multiply_transposed(depth, {a.data(), left}, left, rights, scratch);
        for (size_t i = 0; i < left; ++i) {
          for (size_t j = 0; j < right; ++j)
            ASSERT_EQ(out[i * right + j], chain(a.data() + i, left, b.data() + j, right, depth, 0));
          for (size_t j = 0; j < 21; ++j)
            ASSERT_EQ(second[i * 21 + j], chain(a.data() + i, left, other.data() + j, 21, depth, 0));
        }
      }
}

TEST(Gemm, ATransposedProductOfPartsOneAfterAnotherIsThatOfTheWhole) {
  ProductScratch scratch;
  const size_t depth = 500, left = 110, right = 35;
  const auto a = random_values(1, depth * left), b = random_values(2, depth * right);
  std::vector<float> whole(left * right), parts(left * right, 7.f);
  const RightSide all = {{b.data(), right}, right, whole.data(), right};
  multiply_transposed(depth, {a.data(), left}, left, {&all, 1}, scratch);
  for (size_t first = 0, rows = 0; first < depth; first += rows) {
    rows = std::min<size_t>(first == 0 ? 192 : 77, depth - first);
    const RightSide part = {{b.data() + first * right, right}, right, parts.data(), right};
    multiply_transposed(rows, {a.data() + first * left, left}, left, {&part, 1}, scratch,
                        first == 0 ? Start::zero : Start::add);
  }
  EXPECT_EQ(whole, parts);
}

TEST(Gemm, BlocksOfATransposedProductAreChainsOfTheirPartWithZerosBehindTheColumns) {
  if (!fused_multiply_add()) GTEST_SKIP() << "this processor has no fused multiply-add";
  const std::vector<uint32_t> bounds = {0, 3, 3, 300};  // the second part is empty
  ProductScratch scratch;
  for (size_t left : {5, 100})
    for (size_t columns : {7, 64, 405}) {
      const auto a = random_values(1, 300 * left), b = random_values(2, 300 * columns);
      std::vector<size_t> seen(3), lasts(3);
      multiply_transposed_by_blocks(
          bounds, {a.data(), left}, left, {b.data(), columns}, columns, scratch,
          [&](size_t part, const MatrixBlock& block) {
            seen[part] += block.rows * block.columns;
            lasts[part] += block.last;
            EXPECT_EQ(block.more, part < 2);
            const size_t k = bounds[part], depth = bounds[part + 1] - k;
            for (size_t i = 0; i < block.rows; ++i)
              for (size_t j = 0; j < block.stride; ++j) {
                const float* right = b.data() + k * columns + block.column + j;
                const float expected = j < block.columns ? chain(a.data() + k * left + block.row + i, left,
                                                                 right, columns, depth, 0)
                                                         : 0.f;
                ASSERT_EQ(block.values[i * block.stride + j], expected) << part << " " << i << " " << j;
              }
          });
      EXPECT_EQ(seen, std::vector<size_t>(3, left * columns));
      EXPECT_EQ(lasts, std::vector<size_t>(3, 1));
    }
}

TEST(Cells, UnitsBehindTheLastWholeVectorHaveTheSameBits) {
  const size_t hidden = 37;
  const auto sums = random_values(5, 4 * hidden), cell = random_values(6, hidden);
  auto gates = sums;
  std::vector<float> c(hidden), h(hidden);
  lstm_forward({1, hidden, gates.data(), cell.data(), c.data(), h.data()});
  for (size_t u = 0; u < hidden; ++u) {  // each unit alone
    std::vector<float> one = {sums[u], sums[hidden + u], sums[2 * hidden + u], sums[3 * hidden + u]};
    float c1 = 0, h1 = 0;
    lstm_forward({1, 1, one.data(), &cell[u], &c1, &h1});
    EXPECT_EQ(c1, c[u]);
    EXPECT_EQ(h1, h[u]);
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    const double exact = sigmoid(sums[hidden + u]) * cell[u] +
                         sigmoid(sums[u]) * std::tanh(static_cast<double>(sums[2 * hidden + u]));
    EXPECT_NEAR(c1, exact, 4e-7);
    EXPECT_NEAR(h1, sigmoid(sums[3 * hidden + u]) * std::tanh(exact), 4e-7);
  }
}

TEST(Cells, ExtremeSumsSaturate) {
  std::vector<float> gates = {1e30f, -1e30f, -1e30f, 1e30f};
  float cell_in = 3, c = 0, h = 0;
  lstm_forward({1, 1, gates.data(), &cell_in, &c, &h});
  EXPECT_FLOAT_EQ(c, -1.f);
  EXPECT_NEAR(h, std::tanh(-1.0), 1e-6);
}

TEST(FixedPoint, MaximumIsOfTheMagnitudeAndNotANumberIsAboveAll) {
  for (size_t count : {1, 7, 8, 33}) {
    std::vector<float> values(count, 0.5f);
    std::vector<int32_t> sums(count, 10);
    values[count / 2] = -3.f;
    EXPECT_EQ(std::bit_cast<float>(add_fixed(values.data(), count, 16, sums.data(), false)), 3.f);
    EXPECT_EQ(sums[count / 2], 10 - 48);
    values[count - 1] = std::nanf("");
    EXPECT_GT(add_fixed(values.data(), count, 16, sums.data(), true), 0x7F800000u);
    values[count - 1] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(add_float(values.data(), count, reinterpret_cast<float*>(sums.data()), true), 0x7F800000u);
  }
}

TEST(FixedPoint, ABlockGoesWhereItIsToGoAndNowhereElse) {
  const size_t rows = 5, stride = 32, to_stride = 48;
  const auto gradient = random_values(12, rows * stride);
  for (size_t columns : {3, 16, 32})
    for (RowsGo go : {RowsGo::there, RowsGo::onto, RowsGo::past_caches})
      for (bool is_first : {true, false}) {
        std::vector<int32_t> before(rows * stride, 1000);
        AlignedFloats memory;
        auto* to = reinterpret_cast<int32_t*>(memory.reserve(rows * to_stride));
        std::fill_n(to, rows * to_stride, 7);
        const uint32_t largest =
            put_fixed({gradient.data(), is_first ? nullptr : before.data(), rows, columns, stride, 1024}, to,
                      to_stride, go);
        end_streams();
        float expected_largest = 0;
        for (size_t r = 0; r < rows; ++r)
          for (size_t c = 0; c < to_stride; ++c) {
            const float g = c < columns ? gradient[r * stride + c] : 0.f;
            expected_largest = std::max(expected_largest, std::abs(g));
            const int32_t value = static_cast<int32_t>(std::nearbyint(g * 1024)) + (is_first ? 0 : 1000);
            const int32_t expected = c >= columns ? 7 : go == RowsGo::onto ? 7 + value : value;
            ASSERT_EQ(to[r * to_stride + c], expected) << r << " " << c << " of " << columns;
          }
        EXPECT_EQ(std::bit_cast<float>(largest), expected_largest);
      }
}

TEST(SumOfSquares, EightLanesWhateverTheWidthOfVectors) {
  for (size_t count : {0, 1, 7, 8, 9, 31, 1000}) {
    const std::vector<float> values = random_values(11, count);
    double lanes[8] = {}, expected = 0;
    for (size_t i = 0; i < count; ++i)
      lanes[i < count / 8 * 8 ? i % 8 : 0] += static_cast<double>(values[i]) * values[i];
    for (double lane : lanes) expected += lane;
    EXPECT_EQ(sum_of_squares(values.data(), count), expected) << count;
  }
}

TEST(Adam, WithoutGradientAndMomentsItOnlyShrinksValues) {
  std::vector<float> stepped = random_values(7, 101);
  stepped[3] = 0.f, stepped[4] = -0.f;
  const float share = 0.01f;
  const AdamNumbers numbers = {.rate = 0.1f,
                               .beta1 = 0.9f,
                               .beta2 = 0.999f,
                               .root_correction = 31.6f,
                               .epsilon = 1e-8f,
                               .decay = share,
                               .l2 = 0,
                               .gradient = 0.5f};
  std::vector<float> shrunk = stepped, first(101, 0.f), second(101, 0.f);
  const std::vector<float> zeros(101, 0.f);
  for (int step = 0; step < 3; ++step) {
    adam_step(numbers, 101, zeros.data(), stepped.data(), first.data(), second.data());
    shrink(share, 101, shrunk.data());
  }
  EXPECT_EQ(0, std::memcmp(stepped.data(), shrunk.data(), 101 * sizeof(float)));
  EXPECT_EQ(first, zeros);
  EXPECT_EQ(second, zeros);
}

TEST(Dropout, AnElementsFateDependsOnItsNumberAlone) {
  const auto values = random_values(9, 1000);
  std::vector<float> whole(1000), piece(1000);
  const auto threshold = static_cast<uint32_t>(0.3 * 0x1p32);
  apply_dropout(42, 5, threshold, 2, values.data(), 1000, whole.data());
  for (size_t first = 0, length = 1; first < 1000; first += length, length = length % 7 + 1)
    apply_dropout(42, 5 + first, threshold, 2, values.data() + first, std::min(length, 1000 - first),
                  piece.data() + first);
  EXPECT_EQ(whole, piece);
  const auto dropped = std::count(whole.begin(), whole.end(), 0.f);
  EXPECT_NEAR(static_cast<double>(dropped), 300, 60);
}

}  // namespace
}  // namespace paceline
