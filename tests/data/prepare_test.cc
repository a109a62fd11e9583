#include "data/prepare/prepare.h"

#include <set>

#include "../scratch.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/dataset/reader.h"
#include "data/prepare/labels.h"
#include "data/prepare/mapped_record.h"
#include "data/prepare/shuffle.h"
#include "data/prepare/word_counts.h"
#include "data/text/vocabulary.h"

namespace paceline {
namespace {

class Prepare : public Scratch {
 protected:
  PrepareOptions options_for(const std::string& input, const std::string& out) {
    PrepareOptions options;
    options.input = {input};
    options.label = "label";
    options.min_count = 1;
    options.out = (folder / out).string();
    return options;
  }
  PrepareResult run(const PrepareOptions& options) {
    NoProgress quiet;
    return prepare(options, quiet);
  }
  std::string problem(const PrepareOptions& options) {
    try {
      run(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string some_rows(int rows) {
    RandomStream random({5});
    std::string csv = "text,label\n";
    for (int i = 0; i < rows; ++i) {
      csv += fmt::format("\"word{} and, word{}\nnext line {}\",{}\n", random.below(100), random.below(100),
                         i / 2, random.below(2) ? "yes" : "no");
    }
    return csv;
  }
  std::map<std::string, std::string> checksums(const fs::path& where) {
    std::map<std::string, std::string> sums;
    for (const auto& entry : fs::directory_iterator(where))
      sums[entry.path().filename()] = file_checksum(entry.path());
    return sums;
  }
};

TEST_F(Prepare, EveryRecordIsARowOrAReject) {
  const auto file = write("a.csv",
                          "text,label\n"
                          "good one,1\n"
                          "three,columns,1\n"
                          ",1\n"
                          "no label,\n"
                          "<br />,0\n"
                          "second good one,0\n");
  auto options = options_for(file, "d");
  options.valid_share = options.test_share = 0;
  const auto result = run(options);
  EXPECT_EQ(result.records, 6u);
  EXPECT_EQ(result.info.splits[0].rows, 2u);
  uint64_t rejected = 0;
  for (const auto& [reason, count] : result.info.rejects) rejected += count;
  EXPECT_EQ(rejected, 4u);
  std::ifstream in(folder / "d" / "rejects.jsonl");
  std::string line;
  std::set<int> lines;
  while (std::getline(in, line)) lines.insert(nlohmann::json::parse(line).at("line").get<int>());
  EXPECT_EQ(lines, (std::set<int>{3, 4, 5, 6}));
}

TEST_F(Prepare, BytesDoNotDependOnExecutors) {
  const auto file = write("a.csv", some_rows(20000));
  for (uint64_t executors : {1u, 2u, 3u}) {
    auto options = options_for(file, fmt::format("d{}", executors));
    options.executors = executors;
    run(options);
  }
  EXPECT_EQ(checksums(folder / "d1"), checksums(folder / "d2"));
  EXPECT_EQ(checksums(folder / "d1"), checksums(folder / "d3"));
}

TEST_F(Prepare, EqualTextsNeverStraddleSplits) {
  std::string csv = "text,label\n";
  for (int i = 0; i < 3000; ++i) csv += fmt::format("text number {},{}\n", i % 300, i % 2);
  auto options = options_for(write("a.csv", csv), "d");
  options.valid_share = options.test_share = 0.3;
  const auto result = run(options);
  const Vocabulary words = Vocabulary::load(folder / "d" / "vocab.txt");
  std::map<std::string, std::set<std::string>> where;
  for (const auto& split : result.info.splits) {
    EXPECT_GT(split.rows, 300u);
    SplitReader reader(folder / "d", result.info, split.name);
    Rows rows;
    reader.read(0, reader.rows(), rows);
    for (size_t r = 0; r < rows.size(); ++r) {
      // Words that occur in no training text are unknown, so such a text cannot be told from others.
      if (std::ranges::count(rows.row(r), Vocabulary::unknown_id) > 0) continue;
      where[fmt::format("{}", words.word(rows.row(r).back()))].insert(split.name);
    }
  }
  EXPECT_GT(where.size(), 90u);
  for (const auto& [word, splits] : where) EXPECT_EQ(splits.size(), 1u) << word;
}

TEST_F(Prepare, DeduplicateKeepsTheFirstOfEqualTexts) {
  auto options = options_for(write("a.csv", "text,label\nsame,0\nother,1\nsame,1\nsame,0\n"), "d");
  options.deduplicate = true;
  options.valid_share = options.test_share = 0;
  const auto result = run(options);
  EXPECT_EQ(result.info.splits[0].rows, 2u);
  EXPECT_EQ(result.info.rejects.at("duplicate"), 2u);
  EXPECT_EQ(result.info.splits[0].class_rows, (std::vector<uint64_t>{1, 1}));
}

TEST_F(Prepare, RulesLabelAndLeaveOutWhatNoneWants) {
  const auto file =
      write("a.jsonl",
            "{\"t\": \"one\", \"stars\": 5.0}\n{\"t\": \"two\", \"stars\": 1}\n"
            "{\"t\": \"three\", \"stars\": 3}\n{\"t\": \"four\", \"stars\": 4}\n{\"stars\": 4}\n");
  PrepareOptions options = options_for(file, "d");
  options.format = "jsonl";
  options.text = "t";
  options.label = "stars>=4:good,stars<=2:bad";
  options.valid_share = options.test_share = 0;
  const auto result = run(options);
  EXPECT_EQ(result.info.classes, (std::vector<std::string>{"bad", "good"}));
  EXPECT_EQ(result.info.splits[0].class_rows, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(result.info.rejects,
            (std::map<std::string, uint64_t>{{"no label rule holds", 1}, {"no text", 1}}));
}

TEST_F(Prepare, SeveralColumnsGiveSeveralLabels) {
  auto options = options_for(write("a.csv", "id,text,x,y\n1,one,0,1\n2,two,1,1\n3,three,2,0\n"), "d");
  options.label = "x,y";
  options.valid_share = options.test_share = 0;
  const auto result = run(options);
  EXPECT_EQ(result.info.splits[0].class_rows, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(result.info.rejects.at("a label other than 0 and 1"), 1u);
}

TEST_F(Prepare, BrokenUtf8IsReplacedAndCountedOrRejected) {
  const auto file = write("a.csv", "text,label\ncaf\xE9 good,1\nfine,0\n");
  auto options = options_for(file, "d");
  options.valid_share = options.test_share = 0;
  EXPECT_EQ(run(options).info.repaired_utf8, 1u);
  options.out = (folder / "e").string();
  options.invalid_utf8 = "reject";
  EXPECT_NE(problem(options).find("same label"), std::string::npos);
}

TEST_F(Prepare, MistakesAreOneSentenceAndLeaveNothing) {
  const auto good = write("good.csv", "text,label\na,1\nb,0\n");
  auto expect = [&](PrepareOptions options, const std::string& part) {
    const std::string message = problem(options);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_FALSE(fs::exists(options.out)) << message;
    EXPECT_FALSE(fs::exists(folder / ".d.partial")) << message;
  };
  auto options = options_for(good, "d");
  options.text = "txt";
  expect(options, "text, label");
  options = options_for(write("one.csv", "text,label\na,1\nb,1\n"), "d");
  expect(options, "same label, '1'");
  options = options_for(write("head.csv", "text,label\n"), "d");
  expect(options, "no records");
  options = options_for(good, "d");
  options.test = {write("test.csv", "text,label\na,maybe\n")};
  expect(options, "'maybe'");
  options = options_for(good, "d");
  options.label = "label>=2:x,label<0:y";
  expect(options, "none of the 2 records");
  options.label = "label>=1:x,label<0:y";
  expect(options, "no record is 'y'");
  options.label = "label>=1:x";
  expect(options, "one class only");
  options = options_for(good, "d");
  options.tokenizer_from = folder.string();
  expect(options, "vocab.txt");
  std::string many = "text,label\n";
  for (int i = 0; i < 1200; ++i) many += fmt::format("a,{}\n", i);
  expect(options_for(write("many.csv", many), "d"), "more than 1000 different values");
}

TEST_F(Prepare, WordCountsAreExactWhateverFitsIntoMemory) {
  RandomStream random({3});
  std::map<std::string, uint64_t> truth;
  std::vector<WordCounter> small, large;
  for (int i = 0; i < 2; ++i) small.emplace_back(folder, fmt::format("s{}", i), 50);
  large.emplace_back(folder, "l");
  for (int i = 0; i < 20000; ++i) {
    const std::string word = fmt::format("w{}", random.below(1 + random.below(400)));
    ++truth[word];
    small[static_cast<size_t>(i) % 2].add(word);
    large[0].add(word);
  }
  auto merged = [](std::vector<WordCounter>& counters, size_t limit, uint64_t minimum) {
    std::vector<fs::path> runs;
    for (auto& counter : counters)
      for (auto& path : counter.finish()) runs.push_back(path);
    return merge_word_counts(runs, limit, minimum);
  };
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [word, count] : truth) order.emplace_back(-static_cast<int64_t>(count), word);
  std::sort(order.begin(), order.end());
  const auto a = merged(small, 100, 2), b = merged(large, 100, 2);
  EXPECT_EQ(a.words, b.words);
  EXPECT_EQ(a.distinct, truth.size());
  EXPECT_EQ(a.total, 20000u);
  for (size_t i = 0; i < a.words.size(); ++i) EXPECT_EQ(a.words[i], order[i].second);
}

TEST_F(Prepare, ShuffleGivesEveryRecordOnceInOrderOfItsBuckets) {
  RandomStream random({9});
  std::multiset<uint64_t> expected;
  {
    ShuffleWriter writer(folder);
    std::string bytes;
    for (uint64_t i = 0; i < 5000; ++i) {
      MappedRecord record;
      // Half of all records share their first 16 bits, so that their bucket must be split.
      record.key = i % 2 ? random.next() : (uint64_t{0xABCD} << 48) | (random.next() >> 16);
      record.origin = i;
      record.words = "some words here";
      expected.insert(record.key);
      append_record(bytes, record);
    }
    writer.add(bytes);
    writer.finish();
  }
  ShuffleReader reader(folder, 10000);
  std::multiset<uint64_t> seen;
  uint64_t largest = 0;
  while (auto bucket = reader.next()) {
    EXPECT_LE(bucket->size(), 10000u);
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t position = 0; position < bucket->size();) {
      const auto record = take_record(*bucket, position);
      low = std::min(low, record.key);
      high = std::max(high, record.key);
      seen.insert(record.key);
    }
    EXPECT_GE(low, largest);
    largest = high;
  }
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
}  // namespace paceline
