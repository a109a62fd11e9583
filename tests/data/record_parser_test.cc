// Parsing one record: columns by name, and a reason for what cannot be used.
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/text/records.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

using Values = std::vector<std::optional<std::string_view>>;
constexpr auto absent = std::nullopt;

std::string error_of(SplitOptions options, std::vector<std::string> header,
                     std::vector<std::string> columns) {
  try {
    RecordParser parser(options, header, std::move(columns), "f.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const SplitOptions csv{.format = RecordFormat::csv};

TEST(RecordParser, ColumnsComeInTheOrderAskedFor) {
  RecordParser parser(csv, {"id", "text", "label"}, {"label", "text"}, "f.csv");
  Values values;
  EXPECT_EQ(parser.parse("7,\"a \"\"b\"\", c\",1", values), nullptr);
  EXPECT_EQ(values, (Values{"1", "a \"b\", c"}));
}

TEST(RecordParser, MissingColumnNamesThoseThereAndTheNearest) {
  const std::string error = error_of(csv, {"reviewText", "overall"}, {"reviewtext"});
  EXPECT_EQ(
      error,
      "f.csv: there is no column \"reviewtext\", did you mean \"reviewText\"?; its columns are: reviewText, "
      "overall");
  EXPECT_EQ(error_of({.format = RecordFormat::text}, {}, {"text"}), "");
  EXPECT_NE(error_of({.format = RecordFormat::text}, {}, {"label"}), "");
}

TEST(RecordParser, ColumnThatStandsTwiceIsAnErrorOnlyWhenAskedFor) {
  EXPECT_NE(error_of(csv, {"a", "b", "a"}, {"a"}).find("twice"), std::string::npos);
  EXPECT_EQ(error_of(csv, {"a", "b", "a"}, {"b"}), "");
}

TEST(RecordParser, WrongNumberOfColumnsSaysHowManyAndWhy) {
  RecordParser parser(csv, {"a", "b", "c", "d"}, {"a"}, "f.csv");
  Values values;
  EXPECT_STREQ(parser.parse("1,2,3", values), "wrong number of columns");
  EXPECT_EQ(parser.detail(), "3 columns, expected 4");
  EXPECT_EQ(values.size(), 0u);
  EXPECT_STREQ(parser.parse("1,\"2,\n3,4\",5", values), "wrong number of columns");
  EXPECT_EQ(parser.detail(), "3 columns, expected 4 (unclosed quote in column 2?)");
  EXPECT_STREQ(parser.parse("1,2,3,4,5", values), "wrong number of columns");
  EXPECT_EQ(parser.parse("1,2,3,4", values), nullptr);
  EXPECT_EQ(parser.detail(), "");
}

TEST(RecordParser, NulByteIsAReason) {
  RecordParser parser(csv, {"a"}, {"a"}, "f.csv");
  Values values;
  EXPECT_STREQ(parser.parse(std::string_view("x\0y", 3), values), "NUL byte");
}

class Json : public testing::Test {
 protected:
  RecordParser parser_{{.format = RecordFormat::jsonl}, {}, {"text", "overall"}, "f.jsonl"};
  Values values_;
};

TEST_F(Json, ValuesAreUnescapedStringsOrTheirJsonText) {
  struct Case {
    std::string_view record;
    Values values;
  };
  const std::vector<Case> cases = {
      {R"({"overall": 5.0, "text": "good"})", {"good", "5.0"}},
      {R"({"text": "a\n\"b\" \u00e9\/\ud83d\ude00", "overall": -1e3 })", {"a\n\"b\" é/😀", "-1e3"}},
      {R"({"text": "", "overall": true})", {"", "true"}},
      {R"({"text": null})", {absent, absent}},
      {R"({})", {absent, absent}},
      {R"( {"text" : [1, {"x": "]"}] , "overall": {"a" : "}" } } )",
       {R"([1, {"x": "]"}])", R"({"a" : "}" })"}},
      {R"({"text": "first", "text": "second"})", {"first", absent}},
      {R"({"text": null, "text": "second"})", {absent, absent}},
      {R"({"te\u0078t": "escaped key", "x": {"overall": 1}})", {"escaped key", absent}},
      {R"({"overall": 123456789012345678901234567890})", {absent, "123456789012345678901234567890"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(parser_.parse(c.record, values_), nullptr) << c.record << " " << parser_.detail();
    EXPECT_EQ(values_, c.values) << c.record;
  }
}

TEST_F(Json, LoneSurrogatesBecomeReplacementCharacters) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({"text": "a\ud83d b"})", "a\uFFFD b"},
      {R"({"text": "\udc00"})", "\uFFFD"},
      {R"({"text": "\ud83d\ud83d\ude00"})", "\uFFFD😀"},
      {R"({"text": "\ude00\ud83d"})", "\uFFFD\uFFFD"},
      {R"({"text": "\\ud83d"})", "\\ud83d"},
      {R"({"text": "\\\ud83d"})", "\\\uFFFD"},
      {R"({"\udc00": 1, "text": "x"})", "x"},
  };
  for (const auto& [record, text] : cases) {
    EXPECT_EQ(parser_.parse(record, values_), nullptr) << record << " " << parser_.detail();
    ASSERT_EQ(values_.size(), 2u);
    EXPECT_EQ(values_[0], text) << record;
  }
}

TEST_F(Json, WhatIsNoJsonObjectHasAReason) {
  const std::vector<std::pair<std::string_view, const char*>> cases = {
      {"[1]", "not a JSON object"},
      {"\"text\"", "not a JSON object"},
      {"12", "not a JSON object"},
      {R"({"text": "x")", "invalid JSON"},
      {R"({"text": "x)", "invalid JSON"},
      {R"({"text": )", "invalid JSON"},
      {R"({"text" "x"})", "invalid JSON"},
      {R"({"text": "x"} {"text": "y"})", "invalid JSON"},
      {R"({"text": "x"}})", "invalid JSON"},
      {R"({"overall": tru})", "invalid JSON"},
      {R"({"overall": 01})", "invalid JSON"},
      {R"({"overall": 1.})", "invalid JSON"},
      {R"({"overall": nul})", "invalid JSON"},
      {R"({"text": "\x"})", "invalid JSON"},
      {R"({"text": "\u12g4"})", "invalid JSON"},
      {"{\"text\": \"tab\there\"}", "invalid JSON"},
      {"{\"text\": \"\xFF\"}", "invalid UTF-8"},
      {"nonsense", "not a JSON object"},
  };
  for (const auto& [record, reason] : cases) {
    EXPECT_STREQ(parser_.parse(record, values_), reason) << record;
    EXPECT_EQ(values_.size(), 0u);
  }
  EXPECT_EQ(parser_.parse(R"({"text": "fine again"})", values_), nullptr);
}

TEST_F(Json, KeysAreNamedForMessages) {
  EXPECT_EQ(json_keys(R"({"b": {"inner": 1}, "a\n": [2]})"), (std::vector<std::string>{"b", "a\n"}));
  EXPECT_EQ(json_keys("[1]"), std::vector<std::string>{});
}

}  // namespace
}  // namespace paceline
