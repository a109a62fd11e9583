// Generated comments through the whole program: six labels at once, and a baseline between chance and the
// best.
#include "training.h"

namespace paceline {
namespace {

class GeneratedComments : public Training {
 protected:
  static constexpr const char* labels = "toxic,severe_toxic,obscene,threat,insult,identity_hate";
  static void generate(const std::string& rows, const std::string& seed, const std::string& out) {
    run_well({"generate", "comments", "--rows", rows, "--seed", seed, "--out", out});
  }
};

TEST_F(GeneratedComments, CsvIsPreparedWholeWithSixLabels) {
  generate("5000", "3", "comments.csv");
  run_well({"prepare", "--input", "comments.csv", "--text", "comment_text", "--label", labels,
            "--valid-share", "0", "--test-share", "0", "--out", "data"});
  const Json facts = Json::parse(read_file("comments.csv.facts.json"));
  EXPECT_EQ(facts.at("label"), labels);
  const Output shown = run({"inspect", "data", "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const Json info = Json::parse(read_file("data/dataset.json"));
  EXPECT_TRUE(has(info.dump(), "\"rows\":5000")) << "every record is a row: " << info;
  for (const auto& [label, known] : facts.at("labels").items())
    EXPECT_TRUE(has(info.dump(), known.at("rows").dump())) << label << " in " << info;
}

TEST_F(GeneratedComments, NgramRanksBetterThanChanceAndWorseThanTheBest) {
#ifdef __SANITIZE_ADDRESS__
  const char* rows = "10000";
#else
  const char* rows = "50000";
#endif
  generate(rows, "1", "train.csv");
  generate("20000", "2", "test.csv");
  run_well({"prepare", "--input", "train.csv", "--test", "test.csv", "--text", "comment_text", "--label",
            labels, "--out", "data"});
  run_well({"train", "--data", "data", "--model", "ngram", "--out", "run"});
  const Output output = run({"evaluate", "run", "--data", "data", "--json"});
  ASSERT_EQ(output.code, 0) << output.err;
  const double auc = Json::parse(output.out).at("auc");
  const Json facts = Json::parse(read_file("test.csv.facts.json"));
  EXPECT_GT(auc, 0.75);
  EXPECT_LT(auc, facts.at("best_possible_auc_on_this_file").get<double>() - 0.005);
}

TEST_F(GeneratedComments, OptionsOfAnotherKindAreOneSentence) {
  refuses({"generate", "comments", "--rows", "5", "--negative", "0.3", "--out", "x"},
          {"--negative", "generate comments has no such option"});
  refuses({"generate", "reviews", "--rows", "5", "--toxic", "0.3", "--out", "x"},
          {"--toxic", "generate reviews has no such option"});
  refuses({"generate", "comments", "--rows", "5", "--toxic", "0.7", "--out", "x"},
          {"--toxic", "0.7 is out of range"});
  refuses({"generate", "comments", "--rows", "5", "--obfuscation", "2", "--out", "x"},
          {"--obfuscation", "2 is out of range"});
  refuses({"generate", "coments", "--rows", "5", "--out", "x"}, {"'coments'", "did you mean comments?"});
}

TEST_F(GeneratedComments, BytesDoNotDependOnExecutorsAndTheEndingChoosesTheFormat) {
  for (const std::string executors : {"1", "2", "3"})
    run_well({"generate", "comments", "--rows", "20000", "--seed", "3", "--executors", executors, "--out",
              executors + ".csv"});
  EXPECT_TRUE(read_file("1.csv") == read_file("2.csv"));
  EXPECT_TRUE(read_file("1.csv") == read_file("3.csv"));
  EXPECT_TRUE(read_file("1.csv").starts_with("id,comment_text,toxic,"));
  generate("10", "3", "few.jsonl");
  EXPECT_TRUE(read_file("few.jsonl").starts_with("{\"id\": \""));
}

}  // namespace
}  // namespace paceline
