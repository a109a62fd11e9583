// Bad text files, flags and places: one sentence, the right exit code, and nothing half-written.
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {
namespace {

constexpr const char* good_rows = "text,label\ngood one,1\nbad one,0\ngood two,1\nbad two,0\n";

class BadInput : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    write("good.csv", good_rows);
  }
  static Words prepare(const std::string& file, const Words& more = {}) {
    Words all = {"prepare", "--input", file, "--text", "text", "--label", "label", "--out", "out"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::vector<nlohmann::json> rejects() {
    std::vector<nlohmann::json> all;
    std::ifstream in("out/rejects.jsonl");
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  static nlohmann::json prepared() { return nlohmann::json::parse(read_file("out/dataset.json")); }
};

TEST_F(BadInput, MissingFileIsOneSentence) {
  refuses(prepare("none.csv"), {"none.csv", "no such file"});
  refuses(prepare("good.csv", {"--test", "none.csv"}), {"none.csv", "no such file"});
  refuses({"predict", tiny_run(), "--input", "none.txt"}, {"none.txt", "no such file"});
}

TEST_F(BadInput, EmptyFileIsOneSentence) {
  write("empty.csv", "");
  write("header.csv", "text,label\n");
  refuses(prepare("empty.csv"), {"empty.csv", "empty"});
  refuses(prepare("header.csv"), {"header.csv", "no records"});
  refuses(prepare("good.csv", {"--valid", "empty.csv"}), {"empty.csv", "empty"});
}

TEST_F(BadInput, DirectoryIsOneSentence) {
  fs::create_directory("folder");
  refuses(prepare("folder"), {"folder", "is a directory"});
  refuses({"train", "--data", "folder", "--out", "out"}, {"folder", "not a data set"});
  refuses({"train", "--data", "good.csv", "--out", "out"}, {"good.csv", "data set"});
  refuses({"inspect", "folder"}, {"folder", "neither"});
}

TEST_F(BadInput, MissingColumnNamesThoseThatAre) {
  refuses(prepare("good.csv", {"--text", "txet"}), {"good.csv", "txet", "text, label"});
  refuses(prepare("good.csv", {"--label", "class"}), {"good.csv", "class", "text, label"});
  refuses(prepare("good.csv", {"--label", "stars>=4:good,stars<3:bad"}),
          {"good.csv", "stars", "text, label"});
}

TEST_F(BadInput, MissingJsonKeyNamesTheFirstPlace) {
  write("rows.jsonl", "{\"review\":\"good\",\"label\":1}\n{\"review\":\"bad\",\"label\":0}\n");
  refuses(prepare("rows.jsonl", {"--format", "jsonl"}), {"rows.jsonl:1", "none of the 2 records"});
}

TEST_F(BadInput, LabelNeverSeenInTrainingIsOneSentence) {
  write("test.csv", "text,label\ngood three,2\n");
  refuses(prepare("good.csv", {"--test", "test.csv"}), {"label '2'", "test", "never in the training data"});
  refuses(prepare("good.csv", {"--valid", "test.csv"}), {"label '2'", "validation"});
  refuses(prepare("good.csv", {"--label", "label>=1:yes,label<0:no"}), {"'no'", "label<0:no"});
}

TEST_F(BadInput, OneClassOnlyIsOneSentence) {
  write("one.csv", "text,label\ngood,1\nfine,1\n");
  refuses(prepare("one.csv"), {"--label label", "the same label, '1'"});
}

TEST_F(BadInput, InvalidUtf8IsReplacedAndCounted) {
  write("broken.csv", "text,label\ngood\xff one,1\nbad \xc3( one,0\ngood two,1\nbad two,0\n");
  const Output output = run(prepare("broken.csv"));
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "in 2 records broken UTF-8 was replaced")) << output.out;
  EXPECT_EQ(prepared().at("repaired_utf8"), 2);
  EXPECT_EQ(prepared().at("splits").at(0).at("rows"), 4);
}

TEST_F(BadInput, InvalidUtf8IsRejectedWhenToldAndKeptWithItsPlace) {
  write("broken.csv", "text,label\ngood\xff one,1\nbad one,0\ngood two,1\nbad two,0\n");
  ASSERT_EQ(run(prepare("broken.csv", {"--invalid-utf8", "reject"})).code, 0);
  ASSERT_EQ(rejects().size(), 1u);
  EXPECT_EQ(rejects()[0].at("file"), "broken.csv");
  EXPECT_EQ(rejects()[0].at("line"), 2);
  EXPECT_EQ(rejects()[0].at("reason"), "invalid UTF-8");
  EXPECT_EQ(prepared().at("rejects").at("invalid UTF-8"), 1);
}

TEST_F(BadInput, NulByteIsKeptAsideWithItsPlace) {
  using namespace std::string_view_literals;
  write("nul.csv", "text,label\nbad one,0\ngood\0 one,1\ngood two,1\n"sv);
  ASSERT_EQ(run(prepare("nul.csv")).code, 0);
  ASSERT_EQ(rejects().size(), 1u);
  EXPECT_EQ(rejects()[0].at("line"), 3);
  EXPECT_EQ(rejects()[0].at("reason"), "NUL byte");
  EXPECT_EQ(prepared().at("splits").at(0).at("rows"), 2);
}

TEST_F(BadInput, NulBytesAloneAreOneSentence) {
  using namespace std::string_view_literals;
  write("nul.csv", "text,label\n\0,1\n"sv);
  write("header.csv", "te\0xt,label\ngood,1\n"sv);
  refuses(prepare("nul.csv"), {"nul.csv:2", "NUL byte"});
  refuses(prepare("header.csv"), {"header.csv:1", "NUL byte"});
}

class BigFile : public BadInput {
 protected:
  static constexpr uint64_t limit = uint64_t{300} << 20;
  // About 64 MB of good rows, with a quote opened in this row of them.
  static uint64_t write_with_quote(uint64_t quoted_row) {
    FileWriter out("big.csv");
    out.write("text,label\n");
    const std::string words(120, 'w');
    for (uint64_t row = 0; row < 512 * 1024; ++row) {
      if (row == quoted_row) out.write("\"");
      out.write(words + (row % 2 == 0 ? ",1\n" : ",0\n"));
    }
    out.close();
    return quoted_row + 2;
  }
  // Instrumented programs use memory of their own.
  static void expect_bounded([[maybe_unused]] const Output& output) {
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(output.peak_bytes, limit);
#endif
  }
};

TEST_F(BigFile, UnclosedQuoteAtTheEndIsOneSentenceInBoundedMemory) {
  const uint64_t line = write_with_quote(512 * 1024 - 2);
  const Output output = run(prepare("big.csv"));
  EXPECT_TRUE(is_one_sentence(output, 2, {"big.csv:" + std::to_string(line), "never closed"}));
  expect_bounded(output);
  EXPECT_EQ(names(), (Words{"./big.csv", "./good.csv"}));
}

TEST_F(BigFile, UnclosedQuoteAtTheBeginningIsOneSentenceInBoundedMemory) {
  const uint64_t line = write_with_quote(1);
  const Output output = run(prepare("big.csv"));
  EXPECT_TRUE(is_one_sentence(output, 2, {"big.csv:" + std::to_string(line), "never closed"}));
  expect_bounded(output);
  EXPECT_EQ(names(), (Words{"./big.csv", "./good.csv"}));
}

TEST_F(BadInput, TruncatedGzipIsOneSentence) {
  gzFile file = gzopen("rows.csv.gz", "wb");
  gzputs(file, good_rows);
  gzclose(file);
  fs::resize_file("rows.csv.gz", fs::file_size("rows.csv.gz") - 12);
  refuses(prepare("rows.csv.gz"), {"rows.csv.gz", "truncated"});
  refuses({"predict", tiny_run(), "--input", "rows.csv.gz", "--format", "table"},
          {"rows.csv.gz", "truncated"});
}

TEST_F(BadInput, UnknownFlagSuggestsTheNearest) {
  refuses(prepare("good.csv", {"--vocabulary-sise", "9"}),
          {"--vocabulary-sise", "did you mean --vocabulary-size?"});
  refuses({"train", "--learning-rat", "0.1"}, {"--learning-rat", "did you mean --learning-rate?"});
  refuses({"trane"}, {"'trane'", "did you mean train?"});
  refuses({"prepare", "--qqqqqqqq"}, {"--qqqqqqqq", "--help"});
}

TEST_F(BadInput, UnknownKeySuggestsTheNearest) {
  write("some.yaml", "min-count: 2\ndeduplicat: true\n");
  refuses(prepare("good.csv", {"--set", "mincount=3"}), {"mincount", "did you mean min-count?"});
  refuses(prepare("good.csv", {"--config", "some.yaml"}), {"some.yaml:2", "did you mean deduplicate?"});
  refuses(prepare("good.csv", {"--config", "none.yaml"}), {"none.yaml"});
  write("some.yaml", "a: [1\n");
  refuses(prepare("good.csv", {"--config", "some.yaml"}), {"some.yaml:", "not valid YAML"});
}

TEST_F(BadInput, NumberOutOfRangeIsOneSentence) {
  refuses(prepare("good.csv", {"--vocabulary-size", "0"}), {"--vocabulary-size", "0 is out of range"});
  refuses(prepare("good.csv", {"--valid-share", "2"}), {"--valid-share", "2 is out of range", "0 to 0.9"});
  refuses(prepare("good.csv", {"--valid-share", "0.6", "--test-share", "0.6"}),
          {"--valid-share", "--test-share"});
  refuses(prepare("good.csv", {"--min-count", "99999999999999999999999"}), {"--min-count", "out of range"});
  refuses(prepare("good.csv", {"--min-count", "-1"}), {"--min-count", "'-1'", "whole number"});
  refuses(prepare("good.csv", {"--min-count", "many"}), {"--min-count", "'many'"});
  refuses(prepare("good.csv", {"--set", "valid-share=nan"}), {"valid-share", "'nan'"});
  refuses({"generate", "reviews", "--rows", "0", "--out", "x"}, {"--rows", "0 is out of range"});
  refuses({"generate", "reviews", "--rows", "5", "--noise", "0.5", "--out", "x"},
          {"--noise", "0.5 is out of range"});
  refuses({"train", "--data", "d", "--out", "r", "--epochs", "0"}, {"--epochs", "0 is out of range"});
  refuses(prepare("good.csv", {"--format", "cvs"}), {"--format", "'cvs'", "did you mean csv?"});
}

TEST_F(BadInput, MissingFlagOrValueIsOneSentence) {
  refuses({"prepare", "--input", "good.csv"}, {"--out is missing"});
  refuses({"train", "--out", "out"}, {"--data is missing"});
  refuses({"prepare", "--out"}, {"--out", "a value is missing"});
  refuses({"evaluate", "--data", "d"}, {"MODEL|RUN is missing"});
  refuses({"inspect", "a", "b"}, {"'b'", "nothing is expected there"});
}

TEST_F(BadInput, OutputThatExistsIsOneSentenceAndStays) {
  fs::create_directory("out");
  write("out/precious", "mine");
  refuses(prepare("good.csv"), {"--out out", "exists already"});
  refuses({"train", "--data", tiny_data(), "--out", "out"}, {"--out out", "exists already"});
  refuses({"generate", "reviews", "--rows", "5", "--out", "good.csv"}, {"--out good.csv", "exists already"});
  refuses({"quickstart", "--out", "out"}, {"--out out", "exists already"});
  EXPECT_EQ(read_file("out/precious"), "mine");
  EXPECT_EQ(read_file("good.csv"), good_rows);
}

TEST_F(BadInput, OutputInAFolderThatIsNotThereIsOneSentence) {
  Words arguments = prepare("good.csv");
  arguments.back() = "no/out";
  refuses(arguments, {"--out no/out", "no folder no"});
  refuses({"generate", "reviews", "--rows", "5", "--out", "no/x"}, {"--out no/x", "no folder no"});
  refuses({"train", "--data", tiny_data(), "--out", "no/run"}, {"--out no/run"});
}

TEST_F(BadInput, NamesWithControlCharactersAreStillOneLine) {
  refuses(prepare("no\nsuch\033[31m.csv"), {"no such [31m.csv", "no such file"});
}

TEST_F(BadInput, PipeIsReadWholeAndOnce) {
  const Output output = run(prepare("-"), good_rows);
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(prepared().at("inputs").at(0).at("records"), 4);
  const Output named = run_script(
      "cat good.csv good.csv | \"$paceline\" prepare --input /dev/stdin --label label --out two --json");
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(nlohmann::json::parse(named.out).at("records"), 9)
      << "the second header is a record like any other";
}

}  // namespace
}  // namespace paceline
