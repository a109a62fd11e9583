#include "base/table.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Table, AlignsNumbersRightAndTextLeft) {
  Table table({"class", "samples", "F1"});
  table.add({"negative", 1234567u, 0.5});
  table.add({"pos", 3u, nullptr});
  EXPECT_EQ(table.text(),
            "class       samples      F1\n"
            "--------  ---------  ------\n"
            "negative  1,234,567  0.5000\n"
            "pos               3       -\n");
}

TEST(Table, AWideCharacterTakesTwoColumns) {
  Table table({"name", "n"});
  table.add({"日本", 1});
  table.add({"äöü", 2});
  table.add({"🙂x", 3});
  EXPECT_EQ(table.text(),
            "name  n\n"
            "----  -\n"
            "日本  1\n"
            "äöü   2\n"
            "🙂x   3\n");
}

TEST(Table, WidthsCountCodePoints) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("né"), 2u);
  EXPECT_EQ(display_width("한국어"), 6u);
  EXPECT_EQ(display_width("ｆｕｌｌ"), 8u);
  EXPECT_EQ(display_width("𠀀"), 2u);
}

TEST(Table, TextCutInsideACharacterIsSurvived) {
  for (std::string_view text : {"\xE6", "\xE6\x97", "\xF0\x9F\x99", "\x80", "\xFF", "a\xC3"})
    EXPECT_LE(display_width(text), 2 * text.size());
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
  Table table({"na\nme"});
  table.add({"red \x1b[31m\tline\nnext"});
  const std::string text = table.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(table.json()[0]["na\nme"], "red \x1b[31m\tline\nnext");
}

TEST(Table, JsonHasAnObjectPerRowWithColumnsInOrder) {
  Table table({"z", "a"});
  EXPECT_EQ(table.json().dump(), "[]");
  table.add({"x", 1.5});
  table.add({nullptr, 2});
  EXPECT_EQ(table.json().dump(), R"([{"z":"x","a":1.5},{"z":null,"a":2}])");
}

TEST(Table, WithoutRowsPrintsItsColumns) { EXPECT_EQ(Table({"a", "bc"}).text(), "a  bc\n-  --\n"); }

TEST(Numbers, HaveCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(~uint64_t{0}), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace paceline
