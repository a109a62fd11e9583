// What `generate reviews` promises: the same bytes for a seed, the shares and lengths it names, whole
// files or none, and a best possible accuracy that is known.
#include "data/generate/reviews.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "data/generate/lengths.h"
#include "data/generate/ordered_chunks.h"
#include "data/generate/review_rows.h"

namespace paceline {
namespace {

class GenerateReviews : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("paceline-generate-{}", getpid());
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ReviewOptions options(uint64_t rows, const std::string& name = "reviews.jsonl") const {
    ReviewOptions options;
    options.rows = rows;
    options.seed = 7;
    options.out = folder_ / name;
    options.threads = 2;
    return options;
  }
  ReviewFacts generate(const ReviewOptions& options) const {
    NoProgress progress;
    return generate_reviews(options, progress);
  }
  std::vector<nlohmann::json> rows_of(const ReviewOptions& options) const {
    generate(options);
    std::istringstream lines(read_file(options.out));
    std::vector<nlohmann::json> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
    return rows;
  }
  size_t files_in_folder() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string refusal(const ReviewOptions& options) const {
    try {
      generate(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

size_t count_words(const std::string& text) {
  std::istringstream words(text);
  return static_cast<size_t>(std::distance(std::istream_iterator<std::string>(words), {}));
}

TEST_F(GenerateReviews, SameBytesOnAnyNumberOfThreads) {
  auto bytes = [&](unsigned threads, const char* name) {
    ReviewOptions wanted = options(9000, name);
    wanted.threads = threads;
    generate(wanted);
    return read_file(wanted.out);
  };
  std::string one = bytes(1, "one");
  EXPECT_EQ(one, bytes(2, "two"));
  EXPECT_EQ(one, bytes(7, "seven"));
}

TEST_F(GenerateReviews, MoreRowsBeginWithTheSameRowsAndAnotherSeedGivesOthers) {
  generate(options(100, "short"));
  generate(options(300, "long"));
  ReviewOptions other = options(100, "other");
  other.seed = 8;
  generate(other);
  std::string few = read_file(folder_ / "short"), many = read_file(folder_ / "long");
  EXPECT_EQ(many.substr(0, few.size()), few);
  EXPECT_NE(read_file(folder_ / "other"), few);
}

TEST_F(GenerateReviews, TheBytesOfASeedNeverChange) {
  generate(options(2000));
  EXPECT_EQ(file_checksum(folder_ / "reviews.jsonl"), "xxh3:4d9e0f4d02090af91627c91bc1f0ecf3");
}

TEST_F(GenerateReviews, SharesAndLengthsAreAsPromised) {
  std::vector<nlohmann::json> rows = rows_of(options(20000));
  ASSERT_EQ(rows.size(), 20000u);
  size_t negative = 0;
  std::vector<size_t> lengths;
  std::set<std::string> types;
  for (const nlohmann::json& row : rows) {
    double overall = row.at("overall");
    ASSERT_TRUE(overall == 1 || overall == 2 || overall == 4 || overall == 5) << overall;
    negative += overall <= 2;
    std::istringstream words(row.at("reviewText").get<std::string>());
    size_t count = 0;
    for (std::string word; words >> word; ++count) {
      while (!word.empty() && std::string_view(".,!\"").find(word.back()) != std::string_view::npos)
        word.pop_back();
      std::transform(word.begin(), word.end(), word.begin(),
                     [](char c) { return static_cast<char>(c | 32); });
      types.insert(word);
    }
    lengths.push_back(count);
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_NEAR(static_cast<double>(negative) / 20000, 0.22, 0.01);
  EXPECT_NEAR(static_cast<double>(lengths[10000]), 40, 2);
  EXPECT_GE(lengths.front(), 3u);
  EXPECT_GT(lengths.back(), 2000u);
  EXPECT_GT(types.size(), 40000u) << "of a vocabulary that longer files show more of";
}

TEST_F(GenerateReviews, TheVocabularyHasMoreThanFiftyThousandTypesByZipfsLaw) {
  Lexicon lexicon;
  std::set<std::string_view> types;
  for (size_t i = 0; i < lexicon.things.size(); ++i) types.insert(lexicon.things[i]);
  EXPECT_GT(types.size(), 50000u);
  RandomStream random({3});
  std::map<uint64_t, double> seen;
  for (int i = 0; i < 170000; ++i) ++seen[zipf_rank(random, Lexicon::thing_octaves)];
  EXPECT_NEAR(seen[0], 10000, 400);
  EXPECT_NEAR(seen[1], 5000, 300);
  EXPECT_NEAR(seen[7], 1250, 150);
  EXPECT_EQ(seen.rbegin()->first >> 16, 1u) << "the last octave is reached";
  EXPECT_LT(seen.rbegin()->first, lexicon.things.size());
}

TEST_F(GenerateReviews, TextsHaveExactlyTheWordsThatLengthAsksFor) {
  ReviewOptions wanted = options(4000);
  wanted.length = "3-8";
  std::map<size_t, size_t> counts;
  for (const nlohmann::json& row : rows_of(wanted)) ++counts[count_words(row.at("reviewText"))];
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_EQ(counts.begin()->first, 3u);
  EXPECT_EQ(counts.rbegin()->first, 8u);
  for (auto [length, count] : counts) EXPECT_NEAR(static_cast<double>(count), 4000 / 6.0, 120) << length;

  ReviewOptions longer = options(3000, "longer");
  longer.length = "120";
  std::vector<size_t> lengths;
  for (const nlohmann::json& row : rows_of(longer)) lengths.push_back(count_words(row.at("reviewText")));
  std::nth_element(lengths.begin(), lengths.begin() + 1500, lengths.end());
  EXPECT_NEAR(static_cast<double>(lengths[1500]), 120, 10);
}

TEST_F(GenerateReviews, EveryRowIsValidJsonWithTheFieldsOfTheAmazonFiles) {
  size_t quotes = 0, paragraphs = 0;
  for (const nlohmann::json& row : rows_of(options(3000))) {
    ASSERT_EQ(row.size(), 5u);
    EXPECT_TRUE(row.at("overall").is_number_float());
    EXPECT_EQ(row.at("asin").get<std::string>().size(), 10u);
    EXPECT_EQ(row.at("reviewerID").get<std::string>().size(), 13u);
    EXPECT_EQ(row.at("unixReviewTime").get<uint64_t>() % 86400, 0u);
    std::string text = row.at("reviewText");
    quotes += text.find('"') != std::string::npos;
    paragraphs += text.find('\n') != std::string::npos;
  }
  EXPECT_GT(quotes, 0u) << "texts exercise the quoting of readers";
  EXPECT_GT(paragraphs, 0u) << "texts exercise newlines inside fields";
}

TEST_F(GenerateReviews, CsvHoldsTheSameRowsAsJsonl) {
  std::vector<nlohmann::json> rows = rows_of(options(500));
  ReviewOptions csv = options(500, "reviews.csv");
  csv.format = "csv";
  generate(csv);
  std::string expected = "overall,reviewText,asin,reviewerID,unixReviewTime\n";
  for (const nlohmann::json& row : rows) {
    std::string text;
    for (char c : row.at("reviewText").get<std::string>())
      text += c == '"' ? std::string("\"\"") : std::string(1, c);
    expected += fmt::format("{:.1f},\"{}\",{},{},{}\n", row.at("overall").get<double>(), text,
                            row.at("asin").get<std::string>(), row.at("reviewerID").get<std::string>(),
                            row.at("unixReviewTime").get<uint64_t>());
  }
  EXPECT_EQ(read_file(csv.out), expected);
}

TEST_F(GenerateReviews, KnownBestAccuracyFollowsFromTheNoise) {
  ReviewOptions wanted = options(20000);
  wanted.length = "3-8";
  wanted.noise = 0.1;
  ReviewFacts facts = generate(wanted);
  nlohmann::json written = nlohmann::json::parse(read_file(folder_ / "reviews.jsonl.facts.json"));
  EXPECT_EQ(written.at("version"), 1);
  EXPECT_EQ(written.at("options").at("seed"), 7);
  EXPECT_EQ(written.at("best_possible_accuracy"), 0.9);
  EXPECT_EQ(facts.best_possible_accuracy, 0.9);
  EXPECT_NEAR(written.at("best_possible_accuracy_on_this_file").get<double>(), 0.9, 0.01);
  EXPECT_EQ(written.at("flipped_rows"), facts.flipped);
  EXPECT_EQ(written.at("bytes"), fs::file_size(wanted.out));
  EXPECT_NEAR(static_cast<double>(facts.negative) / 20000, 0.22, 0.01) << "noise does not move the shares";
  EXPECT_NEAR(facts.null_accuracy, 0.78, 0.01);
}

// Without noise the text decides the label: read by its own rules, a three-word review is never wrong.
TEST_F(GenerateReviews, WithoutNoiseTheWordsInTheirOrderGiveTheLabel) {
  ReviewOptions wanted = options(3000);
  wanted.length = "3-3";
  wanted.noise = 0;
  Lexicon lexicon;
  std::set<std::string, std::less<>> good, turning = {"not", "never", "hardly"};
  for (size_t i = 0; i < lexicon.judged[1].size(); ++i) good.emplace(lexicon.judged[1][i]);
  std::set<std::string, std::less<>> bad;
  for (size_t i = 0; i < lexicon.judged[0].size(); ++i) bad.emplace(lexicon.judged[0][i]);
  size_t read = 0;
  for (const nlohmann::json& row : rows_of(wanted)) {
    std::istringstream words(row.at("reviewText").get<std::string>());
    std::string opener, degree, judged;
    words >> opener >> degree >> judged;
    opener[0] = static_cast<char>(opener[0] | 32);
    while (!judged.empty() && !std::isalpha(static_cast<unsigned char>(judged.back()))) judged.pop_back();
    if (!good.contains(judged) && !bad.contains(judged)) continue;  // a typo
    ++read;
    EXPECT_EQ(good.contains(judged) != turning.contains(opener), row.at("overall").get<double>() >= 4) << row;
  }
  EXPECT_GT(read, 2900u);
}

TEST_F(GenerateReviews, NoWordThatJudgesOrNegatesTellsTheClassesApart) {
  ReviewOptions wanted = options(20000);
  wanted.noise = 0;
  std::map<std::string, std::array<double, 2>> seen;
  std::array<double, 2> total = {};
  for (const nlohmann::json& row : rows_of(wanted)) {
    bool positive = row.at("overall").get<double>() >= 4;
    std::istringstream words(row.at("reviewText").get<std::string>());
    for (std::string word; words >> word; ++total[positive]) {
      while (!std::isalpha(static_cast<unsigned char>(word.back()))) word.pop_back();
      word[0] = static_cast<char>(word[0] | 32);
      ++seen[word][positive];
    }
  }
  for (const char* word :
       {"not", "never", "good", "bad", "great", "terrible", "but", "although", "doubted"}) {
    ASSERT_GT(seen[word][0], 50) << word;
    double ratio = seen[word][1] / total[1] / (seen[word][0] / total[0]);
    EXPECT_GT(ratio, 0.7) << word;
    EXPECT_LT(ratio, 1.4) << word;
  }
}

TEST_F(GenerateReviews, RefusesAnExistingFile) {
  std::ofstream(folder_ / "reviews.jsonl") << "mine";
  std::string message = refusal(options(10));
  EXPECT_NE(message.find("reviews.jsonl: exists already"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "reviews.jsonl"), "mine");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(GenerateReviews, RefusesWhatCannotBeWrittenAndSaysWhatIsAllowed) {
  EXPECT_NE(refusal(options(0)).find("--rows 0"), std::string::npos);
  EXPECT_NE(refusal(options(10, "missing/reviews.jsonl")).find("there is no folder"), std::string::npos);
  for (const char* length : {"x", "2", "0-5", "8-3", "3-", "-3", "3-8-9", "40 ", "99999"}) {
    ReviewOptions wanted = options(10);
    wanted.length = length;
    EXPECT_NE(refusal(wanted).find("a median such as 40, or a range such as 3-8"), std::string::npos)
        << length;
  }
  ReviewOptions wanted = options(10);
  wanted.format = "xml";
  EXPECT_NE(refusal(wanted).find("expected jsonl or csv"), std::string::npos);
  wanted = options(10);
  wanted.noise = 0.3;
  EXPECT_NE(refusal(wanted).find("--noise 0.3"), std::string::npos);
  wanted.noise = std::nan("");
  EXPECT_NE(refusal(wanted).find("--noise nan"), std::string::npos);
  wanted = options(10);
  wanted.negative = 1.5;
  EXPECT_NE(refusal(wanted).find("--negative 1.5"), std::string::npos);
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(GenerateReviews, LeavesNothingBehindWhenItFailsHalfway) {
  struct Failing final : Progress {
    void begin(std::string_view, uint64_t, std::string_view) override {}
    void update(uint64_t done, std::string_view) override {
      if (done > 5000) throw WorkError("the disk is full");
    }
    void end() override {}
  } failing;
  EXPECT_THROW(generate_reviews(options(20000), failing), WorkError);
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST(OrderedChunks, AreTakenInOrderHoweverLongEachTakesToMake) {
  std::vector<uint64_t> taken;
  in_order<uint64_t>(
      50, 4,
      [](uint64_t number, uint64_t& chunk) {
        std::this_thread::sleep_for(std::chrono::microseconds((number * 37) % 5 * 200));
        chunk = number;
      },
      [&](uint64_t chunk) { taken.push_back(chunk); });
  ASSERT_EQ(taken.size(), 50u);
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
}

TEST(OrderedChunks, AFailureWhileMakingEndsTheWorkAndIsThrownAgain) {
  auto make = [](uint64_t number, int&) {
    if (number == 9) throw WorkError("chunk 9");
  };
  EXPECT_THROW(in_order<int>(1000, 3, make, [](int) {}), WorkError);
}

TEST(ReviewLengths, HaveALongTailWithTheMedianAskedFor) {
  Lengths lengths("");
  RandomStream random({1, 2});
  std::vector<uint64_t> drawn;
  for (int i = 0; i < 100000; ++i) drawn.push_back(lengths.draw(random));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_NEAR(static_cast<double>(drawn[50000]), 40, 1);
  EXPECT_NEAR(static_cast<double>(drawn[15866]), 40 / 3.004, 1.2) << "one deviation below";
  EXPECT_NEAR(static_cast<double>(drawn[84134]), 40 * 3.004, 8) << "one deviation above";
  auto over = drawn.end() - std::upper_bound(drawn.begin(), drawn.end(), 2000u);
  EXPECT_GT(over, 3);
  EXPECT_LT(over, 60);
}

}  // namespace
}  // namespace paceline
