// What predict shows of one sentence: ids as the vocabulary of BERT has them, mask, logits, probabilities.
#include <map>

#include "bert_fixture.h"

namespace paceline {
namespace {

const std::vector<uint32_t> dune = {101, 21643, 2003, 1037, 2307, 3185, 999, 102};
constexpr size_t padded_length = 128;

class OneSentence : public BertTraining {
 protected:
  // Trains on rows of the vocabulary in vocab.txt, and asks.
  static Output look(const Words& more) {
    if (!fs::exists("run")) {
      prepare("data");
      run_well(bert("data", "run", {"--steps", "2"}));
    }
    Words all = {"predict", "run", "--text", "Dune is a great movie!", "--details", "--pad-to", "128"};
    all.insert(all.end(), more.begin(), more.end());
    Output output = run(all);
    EXPECT_EQ(output.code, 0) << output.err;
    return output;
  }
  // The pieces of the sentence where they are in BERT's vocabulary, and names of no meaning around them.
  void write_vocabulary() {
    const std::map<size_t, const char*> known = {
        {0, "[PAD]"}, {100, "[UNK]"}, {101, "[CLS]"},  {102, "[SEP]"},  {103, "[MASK]"}, {999, "!"},
        {1037, "a"},  {2003, "is"},   {2307, "great"}, {3185, "movie"}, {21643, "dune"}};
    std::string pieces;
    for (size_t id = 0; id < 30522; ++id) {
      const auto found = known.find(id);
      pieces += (found == known.end() ? fmt::format("[unused{}]", id) : found->second) + "\n";
    }
    write("vocab.txt", pieces);
  }
  static void expect_json() {
    const Json answer = Json::parse(look({"--json"}).out);
    auto ids = answer.at("input_ids").get<std::vector<uint32_t>>();
    auto mask = answer.at("attention_mask").get<std::vector<uint32_t>>();
    ASSERT_EQ(ids.size(), padded_length);
    ASSERT_EQ(mask.size(), padded_length);
    std::vector<uint32_t> expected = dune, seen(dune.size(), 1);
    expected.resize(padded_length, 0);
    seen.resize(padded_length, 0);
    EXPECT_EQ(ids, expected);
    EXPECT_EQ(mask, seen);
    EXPECT_EQ(answer.at("tokens"), (Json{"[CLS]", "dune", "is", "a", "great", "movie", "!", "[SEP]"}));
    EXPECT_EQ(answer.at("logits").size(), 2u);
    const double no = answer.at("probabilities").at("no"), yes = answer.at("probabilities").at("yes");
    EXPECT_NEAR(no + yes, 1, 1e-5);
    EXPECT_EQ(answer.at("label"), no > yes ? "no" : "yes");
  }
};

TEST_F(OneSentence, HasTheIdsOfBertPaddedWithTheirMask) {
  write_vocabulary();
  expect_json();
}

TEST_F(OneSentence, IsATableForAPerson) {
  write_vocabulary();
  const std::string shown = look({}).out;
  for (const char* part : {"text   Dune is a great movie!", "label  ", "logit", "probability", "position",
                           "mask", "21643", "… and 120 positions of padding (id 0, mask 0)"})
    EXPECT_TRUE(has(shown, part)) << part << " is not in\n" << shown;
}

TEST_F(OneSentence, HasTheSameIdsWithTheVocabularyItself) {
  const fs::path packed = fs::path(PACELINE_SOURCE_DIR) / "../shared/data/bert/vocab.txt.gz";
  if (!fs::exists(packed)) GTEST_SKIP() << "the vocabulary of BERT is not in ../shared/data";
  ASSERT_EQ(run_script("gzip -dc " + packed.string() + " > vocab.txt").code, 0);
  expect_json();
}

}  // namespace
}  // namespace paceline
