// prepare --pack: texts one after another in rows of equal length.
#include <iterator>
#include <sstream>

#include "../refusal.h"
#include "../scratch.h"
#include "base/hash.h"
#include "data/dataset/reader.h"
#include "data/dataset/tokenizer.h"
#include "data/prepare/prepare.h"

namespace paceline {
namespace {

class PreparePacked : public Scratch {
 protected:
  PreparePacked() {
    options_.tokenizer = "wordpiece";
    options_.tokenizer_from =
        write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\n##x\n");
    options_.format = "text";
    options_.valid_share = options_.test_share = 0;
    options_.pack = true;
    options_.max_length = 6;
  }
  PrepareResult run(const std::string& out) {
    options_.out = (folder / out).string();
    NoProgress quiet;
    return prepare(options_, quiet);
  }
  std::vector<std::string> rows_of(const std::string& out) {
    const auto info = read_dataset_info(folder / out);
    const auto pieces = load_vocabulary(folder / out, info.tokenizer);
    SplitReader reader(folder / out, info, "train");
    Rows rows;
    reader.read(0, reader.rows(), rows);
    std::vector<std::string> texts;
    for (size_t r = 0; r < rows.size(); ++r) {
      std::string& text = texts.emplace_back();
      for (uint32_t id : rows.row(r)) text += (text.empty() ? "" : " ") + std::string(pieces.word(id));
    }
    return texts;
  }
  PrepareOptions options_;
};

TEST_F(PreparePacked, ALongTextGoesOnInTheNextRow) {
  options_.input = {write("a.txt", "a b c d e f a b c\n")};
  const auto info = run("d").info;
  EXPECT_EQ(rows_of("d"),
            (std::vector<std::string>{"[CLS] a b c d [SEP]", "[CLS] e f a b [SEP]", "[CLS] c [SEP]"}));
  EXPECT_TRUE(info.packed);
  EXPECT_EQ(info.splits[0].rows, 3u);
  EXPECT_EQ(info.splits[0].truncated_rows, 0u) << "nothing is cut off";
  EXPECT_EQ(info.splits[0].longest, 6u);
}

TEST_F(PreparePacked, ATextThatFillsItsRowIsFollowedByANewOne) {
  options_.input = {write("a.txt", "a b c d\na b c d\n")};
  run("d");
  EXPECT_EQ(rows_of("d"), (std::vector<std::string>{"[CLS] a b c d [SEP]", "[CLS] a b c d [SEP]"}));
}

TEST_F(PreparePacked, EveryPieceOfEveryTextIsThereOnceAndRowsAreFull) {
  std::string lines;
  size_t pieces = 0;
  for (int i = 0; i < 500; ++i) {
    for (int word = 0; word <= i % 9; ++word, ++pieces)
      lines += std::string(1, "abcdef"[(i + word) % 6]) + " ";
    lines += "\n";
  }
  options_.input = {write("a.txt", lines)};
  const auto info = run("d").info;
  const auto rows = rows_of("d");
  size_t found = 0, separators = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::istringstream words(rows[r]);
    const std::vector<std::string> all(std::istream_iterator<std::string>(words), {});
    EXPECT_EQ(all.front(), "[CLS]");
    EXPECT_EQ(all.back(), "[SEP]");
    if (r + 1 < rows.size()) {
      ASSERT_EQ(all.size(), 6u) << rows[r];
    }
    for (const auto& word : all) {
      found += word.size() == 1;
      separators += word == "[SEP]";
    }
  }
  EXPECT_EQ(found, pieces);
  EXPECT_GE(separators, 500u) << "texts are told apart";
  EXPECT_EQ(info.inputs[0].records, 500u);
}

TEST_F(PreparePacked, TheBytesDoNotDependOnTheExecutors) {
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += std::string(static_cast<size_t>(1 + i % 40), "abcdef"[i % 6]) + " a b\n";
  options_.input = {write("a.txt", lines)};
  options_.valid_share = 0.1;
  options_.executors = 1;
  run("one");
  options_.executors = 3;
  run("three");
  for (const char* file : {"train-00000.h5", "valid-00000.h5", "dataset.json"})
    EXPECT_EQ(file_checksum(folder / "one" / file), file_checksum(folder / "three" / file)) << file;
}

TEST_F(PreparePacked, WhatCannotBePackedIsRefused) {
  options_.input = {write("a.csv", "text,label,second\na,1,b\n")};
  options_.format = "csv";
  options_.label = "label";
  EXPECT_TRUE(refused([&] { run("d"); }, {"--pack", "--label label"}));
  options_.label.clear();
  options_.text_pair = "second";
  EXPECT_TRUE(refused([&] { run("d"); }, {"--pack", "--text-pair second"}));
  options_.text_pair.clear();
  options_.max_length = 2;
  EXPECT_TRUE(refused([&] { run("d"); }, {"--max-length 2", "3"}));
  options_.tokenizer = "word";
  options_.tokenizer_from.clear();
  EXPECT_TRUE(refused([&] { run("d"); }, {"--pack", "--tokenizer wordpiece"}));
}

TEST_F(PreparePacked, ADataSetThatClaimsToBePackedAndHasLabelsIsRefused) {
  options_.input = {write("a.txt", "a b c\n")};
  const auto info = run("d").info;
  auto json = to_json(info);
  json["pairs"] = true;
  EXPECT_TRUE(refused([&] { parse_dataset_info(json.dump(), "dataset.json"); }, {"dataset.json", "packed"}));
}

}  // namespace
}  // namespace paceline
