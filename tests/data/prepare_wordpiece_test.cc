// prepare --tokenizer wordpiece: from text to rows.
#include <nlohmann/json.hpp>

#include "../fuzz/wordpiece_target.h"
#include "../scratch.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/dataset/reader.h"
#include "data/dataset/tokenizer.h"
#include "data/prepare/prepare.h"

namespace paceline {
namespace {

class PrepareWordPiece : public Scratch {
 protected:
  PrepareWordPiece() {
    options_.tokenizer = "wordpiece";
    options_.tokenizer_from = write("vocab.txt", small_pieces);
    options_.label = "label";
    options_.valid_share = options_.test_share = 0;
  }
  PrepareResult run(const std::string& out) {
    options_.out = (folder / out).string();
    NoProgress quiet;
    return prepare(options_, quiet);
  }
  std::string problem() {
    try {
      run("refused");
    } catch (const InputError& error) {
      EXPECT_FALSE(fs::exists(folder / "refused"));
      return error.what();
    }
    return "no error";
  }
  // Rows as pieces, and after a bar where the second text begins, sorted.
  std::vector<std::string> rows_of(const std::string& out) {
    const auto info = read_dataset_info(folder / out);
    const auto pieces = load_vocabulary(folder / out, info.tokenizer);
    SplitReader reader(folder / out, info, "train");
    Rows rows;
    reader.read(0, reader.rows(), rows);
    std::vector<std::string> texts;
    for (size_t r = 0; r < rows.size(); ++r) {
      std::string text;
      for (uint32_t id : rows.row(r)) text += (text.empty() ? "" : " ") + std::string(pieces.word(id));
      if (info.pairs) text += fmt::format(" | {}", rows.second_begins[r]);
      texts.push_back(text);
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  std::map<std::string, std::string> checksums(const std::string& out) {
    std::map<std::string, std::string> sums;
    for (const auto& entry : fs::directory_iterator(folder / out))
      sums[entry.path().filename()] = file_checksum(entry.path());
    return sums;
  }
  PrepareOptions options_;
};

TEST_F(PrepareWordPiece, RowsAreTheTextsPiecesBetweenClsAndSep) {
  options_.input = {write("a.csv", "text,label\nThe abab,1\n<b>,0\n\"a.\nqq\",0\n\xE2\x80\x8B,0\n")};
  const auto info = run("d").info;
  EXPECT_EQ(rows_of("d"), (std::vector<std::string>{"[CLS] [UNK] b [UNK] [SEP]", "[CLS] a . [UNK] [SEP]",
                                                    "[CLS] the abab [SEP]"}));
  EXPECT_EQ(info.rejects, (std::map<std::string, uint64_t>{{"no words left after cleaning", 1}}));
  EXPECT_EQ(info.splits[0].unknown_tokens, 3u);
  EXPECT_EQ(info.splits[0].truncated_rows, 0u);
  EXPECT_FALSE(info.tokenizer.clean_html);
  EXPECT_EQ(read_file(folder / "d" / "vocab.txt"), small_pieces);
  options_.clean_html = true;
  run("cleaned");
  EXPECT_EQ(rows_of("cleaned").size(), 2u);
}

TEST_F(PrepareWordPiece, LongTextsAreCutAndCounted) {
  options_.input = {write("a.csv", "text,label\na a a a a a a,1\na b,0\nb b b b b b,0\n")};
  options_.max_length = 6;
  EXPECT_EQ(run("d").info.splits[0].truncated_rows, 2u);
  EXPECT_EQ(rows_of("d"),
            (std::vector<std::string>{"[CLS] a a a a [SEP]", "[CLS] a b [SEP]", "[CLS] b b b b [SEP]"}));
  EXPECT_EQ(read_dataset_info(folder / "d").splits[0].truncated_rows, 2u);
  EXPECT_EQ(read_dataset_info(folder / "d").tokenizer.max_length, 6u);
}

TEST_F(PrepareWordPiece, PairsSayWhereTheSecondTextBegins) {
  options_.input = {write("a.csv", "label,one,two\n1,a b,the\n0,a a a a a a a a,b\n1,a,\n0,,b\n1,a b,b\n")};
  options_.text = "one";
  options_.text_pair = "two";
  options_.max_length = 8;
  options_.fixed_length = 7;
  const auto info = run("d").info;
  EXPECT_TRUE(info.pairs);
  EXPECT_EQ(rows_of("d"),
            (std::vector<std::string>{"[CLS] a a a a [SEP] b [SEP] | 6", "[CLS] a b [SEP] b [SEP] | 4",
                                      "[CLS] a b [SEP] the [SEP] | 4"}));
  EXPECT_EQ(info.splits[0].truncated_rows, 1u);
  EXPECT_EQ(info.rejects.at("no words left after cleaning"), 2u);
}

TEST_F(PrepareWordPiece, BytesDoNotDependOnExecutors) {
  RandomStream random({4});
  std::string csv = "text,pair,label\n";
  for (int i = 0; i < 20000; ++i) {
    for (int column = 0; column < 2; ++column) {
      for (uint64_t n = 1 + random.below(30); n > 0; --n) csv += random.below(2) ? "abab " : "the\xC3\x89 ";
      csv += ',';
    }
    csv += random.below(2) ? "yes\n" : "no\n";
  }
  options_.input = {write("a.csv", csv)};
  options_.text_pair = "pair";
  options_.max_length = 40;
  options_.deduplicate = true;
  options_.valid_share = 0.1;
  for (uint64_t executors : {1u, 2u, 3u}) {
    options_.executors = executors;
    run(fmt::format("d{}", executors));
  }
  EXPECT_EQ(checksums("d1"), checksums("d2"));
  EXPECT_EQ(checksums("d1"), checksums("d3"));
}

TEST_F(PrepareWordPiece, TheFolderOfAModelSaysWhatItsRulesAre) {
  const auto rules_with = [&](const std::string& config, bool cased = false) {
    fs::create_directories(folder / "bert");
    write("bert/vocab.txt", small_pieces);
    write("bert/tokenizer_config.json", config);
    options_.input = {write("a.csv", "text,label\na,1\nb,0\n")};
    options_.tokenizer_from = (folder / "bert").string();
    options_.cased = cased;
    fs::remove_all(folder / "d");
    return run("d").info.tokenizer.rules;
  };
  EXPECT_EQ(rules_with("{}"), WordPieceRules{});
  EXPECT_EQ(rules_with(R"({"do_lower_case": false})"), WordPieceRules::cased());
  EXPECT_EQ(rules_with(R"({"do_lower_case": false})", true), WordPieceRules::cased());
  EXPECT_EQ(rules_with(R"({"strip_accents": false, "unk_token": "[UNK]"})"),
            (WordPieceRules{true, false, true}));
  EXPECT_EQ(rules_with(R"({"tokenize_chinese_chars": false, "mask_token": {"content": "[MASK]"}})"),
            (WordPieceRules{true, true, false}));
  // What was prepared with these rules hands them on.
  options_.tokenizer_from = (folder / "d").string();
  EXPECT_EQ(run("again").info.tokenizer.rules, (WordPieceRules{true, true, false}));
  options_.cased = true;
  EXPECT_NE(problem().find("leave out --cased"), std::string::npos);
  options_.tokenizer_from = (folder / "vocab.txt").string();
  EXPECT_EQ(run("cased").info.tokenizer.rules, WordPieceRules::cased());
}

TEST_F(PrepareWordPiece, MistakesAreOneSentence) {
  const auto expect = [&](const std::string& part) {
    const std::string message = problem();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  options_.input = {write("a.csv", "text,label\na,1\nb,0\n")};
  const std::string good = options_.tokenizer_from;
  options_.tokenizer_from = "";
  expect("needs --tokenizer-from");
  options_.tokenizer_from = (folder / "none").string();
  expect("neither a vocab.txt nor a folder with one");
  options_.tokenizer_from = write("bad.txt", "a\nb\n");
  expect("no line is [UNK]");
  fs::create_directory(folder / "other");
  write("other/vocab.txt", small_pieces);
  write("other/tokenizer_config.json", R"({"unk_token": "<unk>"})");
  options_.tokenizer_from = (folder / "other").string();
  expect("only BERT's [UNK] is known");
  write("other/tokenizer_config.json", R"({"do_lower_case": 1})");
  expect("neither true nor false");
  write("other/tokenizer_config.json", "[");
  expect("not a JSON object");
  options_.tokenizer_from = good;
  options_.text_pair = "second";
  expect("second");
  options_.max_length = 4;
  expect("at least 5");
  options_.tokenizer = "word";
  expect("--tokenizer wordpiece");
  options_.text_pair = "";
  options_.cased = true;
  expect("--cased");
  options_.cased = false;
  options_.tokenizer_from = folder.string();
  expect("this one is for --tokenizer wordpiece");
  options_.tokenizer_from = "";
  run("words");
  options_.tokenizer = "wordpiece";
  options_.max_length = 512;
  options_.tokenizer_from = (folder / "words").string();
  expect("its tokenizer is word");
}

TEST_F(PrepareWordPiece, ShortenedRowsKeepTheirSep) {
  Rows rows;
  rows.ids = {10, 1, 2, 3, 4, 11, 10, 1, 11, 2, 3, 4, 5, 11, 10, 1, 11};
  rows.offsets = {0, 6, 14, 17};
  rows.second_begins = {0, 3, 0};
  Rows plain = rows;
  rows.shorten(5, true);
  EXPECT_EQ(rows.ids, (std::vector<uint32_t>{10, 1, 2, 3, 11, 10, 1, 11, 2, 11, 10, 1, 11}));
  EXPECT_EQ(rows.offsets, (std::vector<uint64_t>{0, 5, 10, 13}));
  EXPECT_EQ(rows.second_begins, (std::vector<uint32_t>{0, 3, 0}));
  plain.second_begins.clear();
  plain.shorten(5, false);
  EXPECT_EQ(plain.ids, (std::vector<uint32_t>{10, 1, 2, 3, 4, 10, 1, 11, 2, 3, 10, 1, 11}));
  plain.shorten(0, false);
  EXPECT_EQ(plain.ids.size(), 13u);
}

}  // namespace
}  // namespace paceline
