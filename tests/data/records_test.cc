// Splitting: what is a record, where it starts, and what is no file of records at all.
#include "data/text/records.h"

#include <gtest/gtest.h>

#include "../fuzz/records_target.h"
#include "base/error.h"

namespace paceline {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Every field of every record; the columns are named a, b, c, ... by the file's own header.
Rows read_rows(std::string_view bytes, SplitOptions options) {
  const SplitResult split = split_all(bytes, SIZE_MAX, options);
  EXPECT_EQ(split.error, "");
  RecordParser parser(options, split.header, split.header, "f");
  Rows rows;
  std::vector<std::optional<std::string_view>> values;
  for (const std::string& record : split.records) {
    const char* reason = parser.parse(record, values);
    EXPECT_EQ(reason, nullptr) << reason << ": " << record;
    rows.emplace_back();
    for (const auto& value : values) rows.back().emplace_back(value.value());
  }
  return rows;
}

const SplitOptions csv{.format = RecordFormat::csv, .quoting = Quoting::quoted};
const SplitOptions tsv{.format = RecordFormat::tsv, .quoting = Quoting::quoted};
const SplitOptions raw_tsv{.format = RecordFormat::tsv, .quoting = Quoting::raw};
const SplitOptions jsonl{.format = RecordFormat::jsonl};
const SplitOptions text{.format = RecordFormat::text};

struct Case {
  const char* name;
  std::string_view body;  // after the header "a,b\n"
  Rows rows;
};

TEST(Csv, FollowsRfc4180) {
  const std::vector<Case> cases = {
      {"plain", "1,2\n3,4\n", {{"1", "2"}, {"3", "4"}}},
      {"no line break at the end", "1,2", {{"1", "2"}}},
      {"CRLF", "1,2\r\n3,4\r\n", {{"1", "2"}, {"3", "4"}}},
      {"quoted separator", "\"1,5\",2\n", {{"1,5", "2"}}},
      {"quoted line break", "\"1\n5\",2\n3,4\n", {{"1\n5", "2"}, {"3", "4"}}},
      {"quoted CRLF is kept", "\"1\r\n5\",2\r\n", {{"1\r\n5", "2"}}},
      {"doubled quote", "\"say \"\"hi\"\"\",2\n", {{"say \"hi\"", "2"}}},
      {"only a doubled quote", "\"\"\"\",2\n", {{"\"", "2"}}},
      {"empty quoted field", "\"\",\"\"\n", {{"", ""}}},
      {"empty fields", ",\n", {{"", ""}}},
      {"quote inside an unquoted field is literal", "5\" disk,2\n3,4\n", {{"5\" disk", "2"}, {"3", "4"}}},
      {"quote behind a space is literal", " \"1\",2\n", {{" \"1\"", "2"}}},
      {"text behind a closing quote is kept", "\"1\"x\"y,2\n", {{"1x\"y", "2"}}},
      {"blank lines are no records", "\n1,2\n\n\r\n3,4\n\n", {{"1", "2"}, {"3", "4"}}},
      {"quoted blank line is part of its field", "\"1\n\n2\",3\n", {{"1\n\n2", "3"}}},
      {"spaces are kept", " 1 , 2 \n", {{" 1 ", " 2 "}}},
      {"quoted last field at the end of the file", "1,\"2\"", {{"1", "2"}}},
      {"doubled quote at the end of the file", "1,\"2\"\"\"", {{"1", "2\""}}},
      {"lone CR is text", "1\r5,2\n", {{"1\r5", "2"}}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(read_rows("a,b\n" + std::string(c.body), csv), c.rows) << c.name;
    std::string tabs(c.body);
    Rows rows = c.rows;
    std::replace(tabs.begin(), tabs.end(), ',', '\t');
    for (auto& row : rows) {
      for (auto& value : row) std::replace(value.begin(), value.end(), ',', '\t');
    }
    EXPECT_EQ(read_rows("a\tb\n" + tabs, tsv), rows) << "TSV: " << c.name;
  }
}

TEST(Csv, HeaderIsUnquotedAndLosesItsByteOrderMark) {
  const SplitResult split = split_all("\xEF\xBB\xBF\"a \"\"x\"\"\",b c,\"d\ne\"\n1,2,3\n", SIZE_MAX, csv);
  EXPECT_EQ(split.header, (std::vector<std::string>{"a \"x\"", "b c", "d\ne"}));
  EXPECT_EQ(split.lines, std::vector<uint64_t>{3});
}

TEST(Tsv, FilesWithoutHeaderTakeTheNamesGiven) {
  SplitOptions options = raw_tsv;
  options.columns = {"en", "de"};
  const SplitResult split = split_all("\xEF\xBB\xBFone\teins\ntwo\tzwei\n", SIZE_MAX, options);
  EXPECT_EQ(split.header, options.columns);
  EXPECT_EQ(split.records, (std::vector<std::string>{"one\teins", "two\tzwei"}));
  EXPECT_EQ(split.lines, (std::vector<uint64_t>{1, 2}));
}

TEST(Tsv, RawQuotesAreCharacters) {
  EXPECT_EQ(read_rows("a\tb\n\"x\t1\ny\"\t\"\"\n", raw_tsv), (Rows{{"\"x", "1"}, {"y\"", "\"\""}}));
}

TEST(Records, LinesAndOrdinalsCountAsAPersonWould) {
  SplitOptions small = csv;
  small.block_bytes = 8;
  const std::string bytes = "a,b\n\n1,\"x\ny\"\n2,z\n\n\n3,w";
  RecordSplitter splitter(std::make_unique<MemorySource>(bytes), "f.csv", small);
  std::vector<uint64_t> lines, ordinals;
  RecordBlock block;
  while (splitter.next_block(block)) {
    for (size_t k = 0; k < block.entries.size(); ++k) {
      lines.push_back(block.entries[k].line);
      ordinals.push_back(block.first_ordinal + k);
    }
  }
  EXPECT_EQ(lines, (std::vector<uint64_t>{3, 5, 8}));
  EXPECT_EQ(ordinals, (std::vector<uint64_t>{0, 1, 2}));
}

TEST(Records, TextAndJsonlAreLinesWithoutHeader) {
  const SplitResult lines = split_all("\xEF\xBB\xBF\"one\r\n\ntwo\" \n three", SIZE_MAX, text);
  EXPECT_EQ(lines.header, std::vector<std::string>{});
  EXPECT_EQ(lines.records, (std::vector<std::string>{"\"one", "two\" ", " three"}));
  const SplitResult json = split_all("{\"a\":1}\n \t\r\n\n{\"a\":2}", SIZE_MAX, jsonl);
  EXPECT_EQ(json.records, (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}"}));
  EXPECT_EQ(json.lines, (std::vector<uint64_t>{1, 4}));
}

TEST(Records, HowBytesArriveDoesNotMatter) {
  std::string bytes =
      "\xEF\xBB\xBF"
      "a,b\r\n";
  for (int k = 0; k < 3000; ++k) {
    bytes +=
        k % 7 == 0 ? "\"line\r\n\"\"" + std::to_string(k) + "\"\"\",x\r\n" : std::to_string(k) + ",5\" y\n";
    if (k % 100 == 0) bytes += "\r\n\n";
  }
  const SplitResult whole = split_all(bytes, SIZE_MAX, csv);
  ASSERT_EQ(whole.records.size(), 3000u);
  for (const size_t piece : {1, 7, 4096}) {
    for (const size_t block_bytes : {1, 64, 1000, 1 << 20}) {
      SplitOptions options = csv;
      options.block_bytes = block_bytes;
      EXPECT_TRUE(split_all(bytes, piece, options) == whole)
          << piece << " bytes at a time, blocks of " << block_bytes;
    }
  }
}

TEST(Records, UnclosedQuoteNamesTheLineWhereItOpened) {
  const SplitResult split = split_all("a,b\n1,2\n\"x\ny\",\"never\nclosed\n", SIZE_MAX, csv);
  EXPECT_EQ(split.records.size(), 0u);
  EXPECT_TRUE(split.error.starts_with("fuzzed:4: the quote that opens here is never closed")) << split.error;
}

TEST(Records, OverLongRecordFailsInBoundedMemory) {
  std::string longest = "a,b\n1,2\n3,\"";
  longest.append(10'000'000, 'x');
  SplitOptions options = csv;
  options.block_bytes = 1000;
  options.max_record_bytes = 10'000;
  auto source = std::make_unique<MemorySource>(longest, 500);
  const ByteSource& watched = *source;
  RecordSplitter splitter(std::move(source), "big.csv", options);
  RecordBlock block;
  const auto read_all = [&] {
    while (splitter.next_block(block)) {
    }
  };
  try {
    read_all();
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("big.csv:3: the quote that opens here"))
        << error.what();
  }
  EXPECT_LT(watched.consumed(), 13'000u);
}

TEST(Records, LengthLimitIsExact) {
  SplitOptions options = text;
  options.max_record_bytes = 100;
  options.block_bytes = 10;
  const std::string fits(100, 'x');
  for (const size_t piece : {1, 1000}) {
    EXPECT_EQ(split_all(fits + "\r\n" + fits, piece, options).records,
              (std::vector<std::string>{fits, fits}));
    const std::string error = split_all("short\n" + fits + "x\n", piece, options).error;
    EXPECT_TRUE(error.starts_with("fuzzed:2: the record that starts here is longer than 100 B")) << error;
  }
}

TEST(Records, Utf16IsToldToBeConverted) {
  const SplitResult split = split_all(std::string_view("\xFF\xFEt\0e\0", 6), SIZE_MAX, csv);
  EXPECT_NE(split.error.find("convert it to UTF-8"), std::string::npos) << split.error;
  EXPECT_NE(split_all(std::string_view("t\0e\0,\0\n\0", 8), SIZE_MAX, csv).error.find("NUL"),
            std::string::npos);
}

TEST(Records, NoHeaderIsAnErrorAndNoRecordsAreNone) {
  EXPECT_NE(split_all("\n\n", SIZE_MAX, csv).error.find("has no header"), std::string::npos);
  const SplitResult split = split_all("a,b\n", SIZE_MAX, csv);
  EXPECT_EQ(split.error, "");
  EXPECT_EQ(split.records.size(), 0u);
}

}  // namespace
}  // namespace paceline
