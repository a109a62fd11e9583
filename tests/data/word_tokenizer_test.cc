#include "data/text/word_tokenizer.h"

#include <gtest/gtest.h>

#include "data/text/utf8.h"

namespace paceline {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  WordTokenizer tokenizer;
  std::vector<std::string_view> words;
  tokenizer.split(text, words);
  return {words.begin(), words.end()};
}

using Words = std::vector<std::string>;

TEST(WordTokenizer, FollowsItsRules) {
  struct Case {
    std::string_view text;
    Words words;
  };
  const std::vector<Case> cases = {
      {"", {}},
      {" \t\r\n", {}},
      {"Hello, World", {"hello", ",", "world"}},
      {"Don't STOP", {"don't", "stop"}},
      {"don’t", {"don't"}},
      {"rock'n'roll", {"rock'n'roll"}},
      {"'quoted' dogs'", {"'", "quoted", "'", "dogs", "'"}},
      {"90's 5'9 a'5", {"90", "'", "s", "5", "'", "9", "a", "'", "5"}},
      {"a''b", {"a", "'", "'", "b"}},
      {"l’été É’a", {"l'été", "é'a"}},
      {"mp3 4GB x²", {"mp3", "4gb", "x²"}},
      {"ÄÖÜ ΣΑΣ ЖЗ", {"äöü", "σασ", "жз"}},
      {"Ⱥ İ", {"ⱥ", "i"}},
      {"e\u0301a \u0301x", {"e\u0301a", "x"}},
      {"漢字かなカナ", {"漢", "字", "かなカナ"}},
      {"x漢y'漢", {"x", "漢", "y", "'", "漢"}},
      {"한국어", {"한국어"}},
      {"wow!!! ok", {"wow", "!", "!", "!", "ok"}},
      {"wow!!!!!!!!?!", {"wow", "!", "!", "!", "?", "!"}},
      {"---- ----", {"-", "-", "-", "-", "-", "-"}},
      {"''''' ", {"'", "'", "'"}},
      {"well-known a_b", {"well", "-", "known", "a", "_", "b"}},
      {"$5.99 50%", {"$", "5", ".", "99", "50", "%"}},
      {"😀😀😀😀 ❤️❤️❤️❤️", {"😀", "😀", "😀", "❤", "❤", "❤"}},
      {"a\u00A0b\u2003c\u00ADd\u200De", {"a", "b", "c", "d", "e"}},
      {std::string_view("a\0b\x01"
                        "c\x7F"
                        "d",
                        7),
       {"a", "b", "c", "d"}},
      {"…—“x”", {"…", "—", "“", "x", "”"}},
      {"a\xFF"
       "b\xE2\x82",
       {"a", "\uFFFD", "b", "\uFFFD"}},
  };
  for (const Case& c : cases) EXPECT_EQ(words_of(c.text), c.words) << c.text;
}

TEST(WordTokenizer, ExamplesOfTheFormatPageHold) {
  EXPECT_EQ(words_of("Don’t STOP!!!!!"), (Words{"don't", "stop", "!", "!", "!"}));
  EXPECT_EQ(words_of("'90s' rock'n'roll"), (Words{"'", "90s", "'", "rock'n'roll"}));
  EXPECT_EQ(words_of("$5.99, 4GB"), (Words{"$", "5", ".", "99", ",", "4gb"}));
  EXPECT_EQ(words_of("漢字かな"), (Words{"漢", "字", "かな"}));
}

TEST(WordTokenizer, LongWordsAreCutBetweenCodePoints) {
  EXPECT_EQ(words_of(std::string(200, 'A') + " b"), (Words{std::string(64, 'a'), "b"}));
  std::string accents, cut;
  for (int k = 0; k < 50; ++k) accents += "É";
  for (int k = 0; k < 31; ++k) cut += "é";
  EXPECT_EQ(words_of("x" + accents), (Words{"x" + cut}));
}

TEST(WordTokenizer, WordsAreValidForAnyBytes) {
  WordTokenizer tokenizer;
  std::vector<std::string_view> words;
  std::string text;
  uint64_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    text.clear();
    for (int k = 0; k < 100; ++k)
      text.push_back(static_cast<char>((state = state * 6364136223846793005u + 1) >> 56));
    tokenizer.split(text, words);
    for (const std::string_view word : words) {
      ASSERT_TRUE(!word.empty() && word.size() <= WordTokenizer::max_word_bytes && valid_utf8(word));
    }
  }
}

TEST(WordTokenizer, GrowingLettersFitTheBuffer) {
  std::string text, lower;
  for (int k = 0; k < 20; ++k) text += "Ⱥ", lower += "ⱥ";
  EXPECT_EQ(words_of(text), Words{lower});
  EXPECT_EQ(words_of(std::string(1000, '\xFF')), (Words{"\uFFFD", "\uFFFD", "\uFFFD"}));
}

}  // namespace
}  // namespace paceline
