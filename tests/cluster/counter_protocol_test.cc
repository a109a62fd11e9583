// What goes over the wire: frames, the token, and times of another clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cluster/launch/clock_comparison.h"
#include "cluster/launch/counter_protocol.h"

namespace paceline {
namespace {

TEST(CounterProtocol, FramesSurviveTheWire) {
  Frame frame;
  frame.kind = FrameKind::claim;
  frame.claim = {{1ull << 40, 7, 123, 1ull << 50}, 0, 5, 0.25, UINT32_MAX};
  const Frame claim = decode(encode(frame)).value();
  EXPECT_EQ(claim.claim.work.step, 1ull << 40);
  EXPECT_EQ(claim.claim.work.tokens, 1ull << 50);
  EXPECT_EQ(claim.claim.executor, 5u);
  EXPECT_EQ(claim.claim.seconds, 0.25);
  EXPECT_EQ(claim.claim.wanted, UINT32_MAX);
  frame.kind = FrameKind::sentence;
  frame.sentence = std::string(max_sentence_bytes - 1, 'x') + "ä";
  EXPECT_EQ(decode(encode(frame)).value().sentence, std::string(max_sentence_bytes - 1, 'x'))
      << "cut between characters";
  auto bytes = encode(frame);
  bytes[6] = std::byte{0xFF};  // the length
  EXPECT_FALSE(decode(bytes));
}

// A day in which the other clock gains 40 millionths, asked every ten seconds; the way there and back takes
// unequal times, now and then very long ones.
TEST(ClockComparison, FollowsAClockThatDrifts) {
  ClockComparison clocks;
  double largest_error = 0;
  for (int i = 1; i < 8640; ++i) {
    const double asked = 10.0 * i, there = i % 7 == 0 ? 0.5 : 1e-4 * (1 + i % 3), back = 1e-4 * (1 + i % 5);
    auto theirs = [](double mine) { return 1000 + mine * (1 + 40e-6); };
    clocks.add(asked, theirs(asked + there), asked + there + back);
    largest_error = std::max(largest_error, std::abs(asked + clocks.offset() - theirs(asked)));
  }
  EXPECT_LT(largest_error, 1.5e-3);
}

TEST(CounterToken, IsRandomAndHexadecimal) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
  EXPECT_TRUE(is_same_token(token, std::string(token)));
  EXPECT_FALSE(is_same_token(token, token.substr(1)));
  EXPECT_FALSE(is_same_token("", "a"));
}

}  // namespace
}  // namespace paceline
