#include "data/text/utf8.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

std::string repaired(std::string_view text) {
  std::string out = "left over";
  replace_invalid_utf8(text, out);
  return out;
}

TEST(Utf8, EveryCodePointRoundTrips) {
  std::string text;
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    text.clear();
    append_code_point(text, value);
    const DecodedCodePoint point = decode_code_point(text, 0);
    ASSERT_TRUE(point.valid && valid_utf8(text)) << std::hex << static_cast<uint32_t>(value);
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.length, text.size());
  }
}

TEST(Utf8, WhatIsNoCharacterIsWrittenAsReplacement) {
  for (const char32_t value : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu}) {
    std::string text;
    append_code_point(text, value);
    EXPECT_EQ(text, "\uFFFD");
  }
}

TEST(Utf8, OneReplacementPerMaximalPart) {
  EXPECT_EQ(repaired("fine é漢😀"), "fine é漢😀");
  EXPECT_EQ(repaired(""), "");
  EXPECT_EQ(repaired("a\xFF"
                     "b"),
            "a\uFFFDb");
  EXPECT_EQ(repaired("\xC3"), "\uFFFD");
  EXPECT_EQ(repaired("\xC3("), "\uFFFD(");
  EXPECT_EQ(repaired("\xE2\x82x"), "\uFFFDx") << "a truncated sequence is one";
  EXPECT_EQ(repaired("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(repaired("\xE0\x80\xBF"), "\uFFFD\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(repaired("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(repaired("\xF4\x91\x92\x93"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond U+10FFFF";
  // The example of the Unicode standard, 3.9, table 3-11.
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
}

TEST(Utf8, RepairGivesValidTextForAnyThreeBytes) {
  std::string text(3, '\0'), out;
  for (unsigned value = 0; value < 1u << 24; value += 7) {
    for (unsigned k = 0; k < 3; ++k) text[k] = static_cast<char>(value >> (8 * k));
    replace_invalid_utf8(text, out);
    ASSERT_TRUE(valid_utf8(out)) << value;
  }
}

TEST(Utf8, CutsFallBetweenCodePoints) {
  EXPECT_EQ(code_point_boundary("aé漢", 10), 6u);
  EXPECT_EQ(code_point_boundary("aé漢", 5), 3u);
  EXPECT_EQ(code_point_boundary("aé漢", 2), 1u);
  EXPECT_EQ(code_point_boundary("漢", 2), 0u);
}

}  // namespace
}  // namespace paceline
