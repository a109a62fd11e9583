// Random streams are part of every result: these values may never change.
#include "base/random.h"

#include <gtest/gtest.h>

#include <unordered_set>
#include <vector>

namespace paceline {
namespace {

TEST(RandomStream, GivesTheseValuesForEver) {
  EXPECT_EQ(stream_key({1, 2, 3}), 0xdaca6b492574d7dbu);
  RandomStream random({1, 2, 3});
  EXPECT_EQ(random.next(), 0xb07e24cf0c0b43e2u);
  EXPECT_EQ(random.next(), 0x419e841dfc6f7c59u);
  EXPECT_EQ(random.next(), 0x61c327640e0212e6u);
  EXPECT_EQ(random.below(1000), 428u);
  EXPECT_EQ(random.uniform(), 0.0975269909980081);
}

TEST(RandomStream, CanBeEnteredAnywhere) {
  RandomStream from_start({9});
  for (uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(RandomStream(stream_key({9}), n).next(), RandomStream({9}).at(n));
    EXPECT_EQ(from_start.next(), RandomStream({9}).at(n));
  }
}

TEST(RandomStream, KeysDependOnOrderAndNumberOfTheirParts) {
  const std::unordered_set<uint64_t> keys = {stream_key({}),     stream_key({0}),    stream_key({0, 0}),
                                             stream_key({1}),    stream_key({1, 0}), stream_key({0, 1}),
                                             stream_key({1, 2}), stream_key({2, 1})};
  EXPECT_EQ(keys.size(), 8u);
}

TEST(RandomStream, IsUniform) {
  RandomStream random({4});
  std::vector<int> counts(10);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    ++counts[random.below(10)];
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
  }
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(KeyedPermutation, GivesTheseValuesForEver) {
  const std::vector<uint64_t> expected = {657223, 552870, 181255, 830361, 776202};
  const KeyedPermutation permutation(42, 1000003);
  for (uint64_t i = 0; i < expected.size(); ++i) EXPECT_EQ(permutation(i), expected[i]);
}

TEST(KeyedPermutation, TakesEveryPlaceExactlyOnce) {
  std::vector<uint64_t> sizes = {65535, 65536, 65537, 1000003};
  for (uint64_t size = 1; size <= 300; ++size) sizes.push_back(size);
  for (uint64_t size : sizes) {
    for (uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      const KeyedPermutation permutation(key, size);
      std::vector<bool> taken(size);
      for (uint64_t i = 0; i < size; ++i) {
        const uint64_t place = permutation(i);
        ASSERT_LT(place, size);
        ASSERT_FALSE(taken[place]) << "size " << size << ", key " << key << ", index " << i;
        taken[place] = true;
      }
    }
  }
}

TEST(KeyedPermutation, OfABillionAndMoreHasNoCollisionInASample) {
  for (uint64_t size : {uint64_t{142000007}, (uint64_t{1} << 40) + 1, (uint64_t{1} << 62) - 1}) {
    const KeyedPermutation permutation(3, size);
    std::unordered_set<uint64_t> places;
    for (uint64_t i = 0; i < 100000; ++i) {
      const uint64_t place = permutation(i * (size / 100000));
      ASSERT_LT(place, size);
      ASSERT_TRUE(places.insert(place).second);
    }
  }
}

TEST(KeyedPermutation, LooksShuffledAndDependsOnItsKey) {
  const uint64_t size = 10000;
  const KeyedPermutation a(1, size), b(2, size);
  uint64_t fixed = 0, equal = 0, ascending = 0;
  for (uint64_t i = 0; i < size; ++i) {
    fixed += a(i) == i;
    equal += a(i) == b(i);
    ascending += i > 0 && a(i) > a(i - 1);
  }
  EXPECT_LT(fixed, 12u);
  EXPECT_LT(equal, 12u);
  EXPECT_NEAR(static_cast<double>(ascending), 5000, 200);
}

}  // namespace
}  // namespace paceline
