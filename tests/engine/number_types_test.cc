#include "engine/model/number_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/hash.h"

namespace paceline {
namespace {

template <typename Word>
std::vector<float> converted(const char* type, const std::vector<Word>& words) {
  std::vector<float> values(words.size());
  find_number_type(type)->to_floats(reinterpret_cast<const char*>(words.data()), words.size(), values.data());
  return values;
}

bool same(float expected, float found) {
  return std::isnan(expected) ? std::isnan(found)
                              : std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(found);
}

TEST(NumberTypes, EveryHalfIsItsValue) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> found = converted("F16", halves);
  for (int i = 0; i < 65536; ++i) {
    const int exponent = i >> 10 & 31, mantissa = i & 1023;
    double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent == 31) value = mantissa == 0 ? INFINITY : NAN;
    ASSERT_TRUE(same(static_cast<float>(i < 32768 ? value : -value), found[static_cast<size_t>(i)])) << i;
  }
}

TEST(NumberTypes, EveryBfloatIsTheUpperHalfOfAFloat) {
  std::vector<uint16_t> words(65536);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint16_t>(i);
  const std::vector<float> found = converted("BF16", words);
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_EQ(std::bit_cast<uint32_t>(found[i]), i << 16);
}

// The processor rounds to nearest, ties to even, as long as nobody has told it otherwise.
TEST(NumberTypes, DoublesAreRoundedAsTheProcessorDoes) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < 1000000; ++i) words.push_back(mix64(i));
  // All exponents around the range of float, with mantissas around the middle between two floats.
  for (uint64_t exponent = 1023 - 155; exponent <= 1023 + 130; ++exponent)
    for (uint64_t middle :
         {uint64_t{1} << 28, uint64_t{3} << 28, uint64_t{0xFFFFFFFFFFFFF}, uint64_t{0}, uint64_t{1} << 51})
      for (uint64_t change : {0, 1, -1})
        for (uint64_t sign : {0, 1})
          words.push_back(sign << 63 | exponent << 52 | ((middle + change) & 0xFFFFFFFFFFFFF));
  for (uint64_t special :
       {uint64_t{0}, uint64_t{1} << 63, uint64_t{1}, uint64_t{0x7FF} << 52, uint64_t{0xFFF} << 52})
    words.push_back(special);
  const std::vector<float> found = converted("F64", words);
  for (size_t i = 0; i < words.size(); ++i)
    ASSERT_TRUE(same(static_cast<float>(std::bit_cast<double>(words[i])), found[i])) << std::hex << words[i];
}

TEST(NumberTypes, IntegersAreKnownAndAreNoWeights) {
  for (const char* name : {"I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL", "C64"})
    EXPECT_EQ(find_number_type(name)->to_floats, nullptr) << name;
  EXPECT_EQ(find_number_type("F12"), nullptr);
  EXPECT_EQ(find_storage_type(""), nullptr);
  EXPECT_EQ(find_storage_type("HalfStorage"), find_number_type("F16"));
}

}  // namespace
}  // namespace paceline
