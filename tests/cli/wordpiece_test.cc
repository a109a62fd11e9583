// The commands on a data set of pieces.
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

class WordPieces : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n##ly\nit\nis\n.\n<\n>\nbr\n");
    std::string csv = "text,second,label\n";
    for (int i = 0; i < 200; ++i)
      csv += (i % 2 ? "It is goodly good. " : "<br> it is bad bad ") + std::to_string(i) +
             (i % 2 ? ",is it,yes\n" : ",it is,no\n");
    write("rows.csv", csv);
  }
  static std::string ask(const Words& arguments) {
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 0) << output.err;
    return output.out;
  }
};

TEST_F(WordPieces, ModelsTrainOnThemAndTokenizeAlike) {
  ask(prepare_pieces("data"));
  ask({"train", "--data", "data", "--model", "ngram", "--buckets", "1000", "--out", "ngram"});
  ask({"train", "--data", "data", "--model", "lstm", "--hidden", "8", "--embedding", "8", "--steps", "20",
       "--max-length", "5", "--out", "lstm"});
  EXPECT_GT(Json::parse(ask({"evaluate", "ngram", "--data", "data", "--json"})).at("accuracy"), 0.9);
  const auto whole = Json::parse(ask({"predict", "ngram", "--text", "Goodly, it IS", "--details", "--json"}));
  EXPECT_EQ(whole.at("tokens"), (Json{"[CLS]", "good", "##ly", "[UNK]", "it", "is", "[SEP]"}));
  EXPECT_EQ(whole.at("input_ids"), (Json{2, 5, 7, 1, 8, 9, 3}));
  const auto cut = Json::parse(ask({"predict", "lstm", "--text", "Goodly, it IS", "--details", "--json"}));
  EXPECT_EQ(cut.at("tokens"), (Json{"[CLS]", "good", "##ly", "[UNK]", "[SEP]"}));
  EXPECT_EQ(run({"evaluate", "lstm", "--data", "data", "--split", "valid"}).code, 0);
  // A model of words is another matter, and so are other rules.
  refuses({"evaluate", tiny_run(), "--data", "data"}, {"data"});
  ask(prepare_pieces("cased", {"--cased"}));
  refuses({"evaluate", "ngram", "--data", "cased"},
          {"cased", "--tokenizer wordpiece --tokenizer-from ngram"});
  ask({"prepare", "--input", "rows.csv", "--label", "label", "--tokenizer", "wordpiece", "--tokenizer-from",
       "ngram", "--out", "again"});
  ask({"evaluate", "ngram", "--data", "again"});
}

TEST_F(WordPieces, PrepareAndInspectSayWhatWasCut) {
  const std::string said = ask(prepare_pieces("data", {"--max-length", "6"}));
  EXPECT_TRUE(has(said, "wordpiece, uncased; 200 of 200 rows were cut to 6 ids")) << said;
  const std::string shown = ask({"inspect", "data", "--rows", "1"});
  EXPECT_TRUE(has(shown, "rows were cut to 6 ids")) << shown;
  EXPECT_TRUE(has(shown, "[CLS] ")) << shown;
  const auto info = Json::parse(ask({"inspect", "data", "--json"}));
  EXPECT_EQ(info.at("tokenizer").at("kind"), "wordpiece");
  EXPECT_EQ(info.at("tokenizer").at("max_length"), 6);
}

TEST_F(WordPieces, PairsAreTrainedOnAsOneRow) {
  ask(prepare_pieces("data", {"--text-pair", "second", "--max-length", "9"}));
  EXPECT_EQ(Json::parse(read_file("data/dataset.json")).at("pairs"), true);
  ask({"train", "--data", "data", "--model", "ngram", "--buckets", "1000", "--max-length", "7", "--out",
       "run"});
  ask({"evaluate", "run", "--data", "data"});
}

TEST_F(WordPieces, OptionsThatDoNotFitAreOneSentence) {
  refuses(prepare_pieces("out", {"--min-count", "3"}), {"--min-count", "wordpiece"});
  refuses({"prepare", "--input", "rows.csv", "--label", "label", "--max-length", "9", "--out", "out"},
          {"--max-length", "word"});
  refuses(prepare_pieces("out", {"--text-pair", "third"}), {"rows.csv", "third"});
  refuses(prepare_pieces("out", {"--keep-html", "--clean-html"}), {"--keep-html", "--clean-html"});
  write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\na\n");
  refuses(prepare_pieces("out"), {"vocab.txt:5", "twice"});
}

}  // namespace
}  // namespace paceline
