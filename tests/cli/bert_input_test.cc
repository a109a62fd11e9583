// Model bert and what is wrong with options, models and texts: one sentence each, or counted.
#include "bert_fixture.h"

namespace paceline {
namespace {

using BertInput = BertTraining;

TEST_F(BertInput, OptionsThatContradictTheModelOrTheDataAreNamed) {
  prepare("data");
  run_well(bert("data", "first"));
  refuses(from("first", "run", {"--bert-hidden", "64"}),
          {"--bert-hidden 64", "--init", "16", "leave it out"});
  refuses(from("first", "run", {"--positions", "512"}), {"--positions 512", "32"});
  refuses(from("nowhere", "run"), {"nowhere", "no such folder"});
  refuses(bert("data", "run", {"--heads", "3"}), {"--bert-hidden 16", "--heads 3"});
  refuses(bert("data", "run", {"--freeze", "3"}), {"--freeze 3", "2 layers"});
  refuses(bert("data", "run", {"--max-length", "64"}), {"--max-length 64", "32 positions"});
  refuses(bert("data", "run", {"--bert-vocabulary", "5"}), {"--bert-vocabulary 5", "12 pieces"});
  refuses(bert("data", "run", {"--kernels", "aten", "--recompute"}), {"--recompute", "--kernels aten"});
  refuses(bert(tiny_data(), "run"), {tiny_data(), "--tokenizer wordpiece"});
  refuses(from("first", "run", {"--model", "lstm"}), {"--init", "lstm"});
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n##ly\nit\nwas\nthis\n.\n");
  prepare("other");
  refuses({"train", "--data", "other", "--model", "bert", "--init", "first", "--out", "run"},
          {"other", "another vocabulary", "--tokenizer-from first"});
}

TEST_F(BertInput, AConfigWhoseNumbersDoNotFitTheWeightsNamesTheTensorAndBothShapes) {
  prepare("data");
  run_well(bert("data", "run", {"--steps", "2"}));
  const std::string config = read_file("run/model/config.json");
  const auto refuse = [&](const std::string& key, const std::string& value, const Words& parts) {
    Json changed = Json::parse(config);
    changed[key] = Json::parse(value);
    write("run/model/config.json", changed.dump());
    refuses({"predict", "run", "--text", "fine"}, parts);
    refuses(from("run", "next"), parts);
  };
  refuse("hidden_size", "18",
         {"config.json", "'hidden_size' is 18", "word_embeddings", "12 x 16", "12 x 18"});
  refuse("hidden_size", "17", {"config.json", "hidden_size", "num_attention_heads"});
  refuse("vocab_size", "11", {"config.json", "'vocab_size' is 11"});
  refuse("vocab_size", "13", {"'vocab_size' is 13", "word_embeddings", "12 x 16", "13 x 16"});
  refuse("max_position_embeddings", "31",
         {"'max_position_embeddings' is 31", "position_embeddings", "32 x 16", "31 x 16"});
  refuse("type_vocab_size", "3", {"'type_vocab_size' is 3", "token_type_embeddings", "2 x 16", "3 x 16"});
  refuse("intermediate_size", "25",
         {"'intermediate_size' is 25", "layer.0.intermediate.dense.weight", "24 x 16", "25 x 16"});
  refuse("num_hidden_layers", "3", {"config.json", "no tensor 'bert.encoder.layer.2.", "16 x 16"});
  refuse("num_hidden_layers", "1", {"'num_hidden_layers' is 1", "bert.encoder.layer.1.", "24 x 16"});
  refuse("num_hidden_layers", "-1", {"config.json", "num_hidden_layers"});
  refuse("hidden_act", "\"swish\"", {"config.json", "hidden_act", "swish"});
}

TEST_F(BertInput, ImpossibleNumbersInAConfigTakeNoMemory) {
  prepare("data");
  run_well(bert("data", "run", {"--steps", "2"}));
  Json config = Json::parse(read_file("run/model/config.json"));
  config.update({{"hidden_size", 16384}, {"num_hidden_layers", 256}, {"intermediate_size", 1 << 17}});
  write("run/model/config.json", config.dump());
  for (const Words& command : {Words{"predict", "run", "--text", "fine"}, from("run", "next")}) {
    const Output output = run(command);
    EXPECT_TRUE(is_one_sentence(output, 2, {"config.json", "'hidden_size' is 16384", "12 x 16"}));
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(output.peak_bytes, uint64_t{600} << 20);
#endif
  }
}

// A folder as --init takes it.
class BertInit : public BertInput {
 protected:
  void SetUp() override {
    BertInput::SetUp();
    prepare("data");
    run_well(bert("data", "run", {"--steps", "2"}));
    fs::copy("run/model", "model", fs::copy_options::recursive);
  }
};

TEST_F(BertInit, WeightsWhosePlacesOverlapOrLieOutsideAreRefused) {
  const std::string bytes = read_file("model/model.safetensors");
  uint64_t length = 0;
  bytes.copy(reinterpret_cast<char*>(&length), sizeof length);
  const Json header = Json::parse(bytes.substr(sizeof length, length));
  const std::string data = bytes.substr(sizeof length + length);
  const auto refuse = [&](const Json& places, const Words& parts) {
    Json changed = header;
    changed["classifier.bias"]["data_offsets"] = places;
    const std::string text = changed.dump();
    const uint64_t size = text.size();
    write("model/model.safetensors",
          std::string(reinterpret_cast<const char*>(&size), sizeof size) + text + data);
    refuses(from("model", "next"), parts);
  };
  refuse({0, 8}, {"model.safetensors", "overlap"});
  refuse({uint64_t{1} << 62, (uint64_t{1} << 62) + 8}, {"model.safetensors", "'classifier.bias'"});
}

TEST_F(BertInit, APickleWithAnythingButTensorsIsRefused) {
  fs::remove("model/model.safetensors");
  fs::copy(PACELINE_SOURCE_DIR "/tests/engine/golden/weights/module.bin", "model/pytorch_model.bin");
  refuses(from("model", "next"), {"pytorch_model.bin", "torch.nn.modules", "only tensors are read"});
}

TEST_F(BertInit, AVocabularyThatDoesNotMatchTheEmbeddingNamesBothNumbers) {
  write("model/vocab.txt", read_file("model/vocab.txt") + "more\n");
  refuses(from("model", "next"), {"vocab.txt", "13 lines", "12 x 16"});
}

TEST_F(BertInit, AModelThatIsNotThereSaysHowToBringOne) {
  refuses(from("minilm", "next"), {"--init minilm", "paceline fetch-model"});
}

TEST_F(BertInput, TextsThatAreEmptyAfterCleaningAreCountedAndAnswered) {
  const std::string nothing = "\xE2\x80\x8B \x01";  // a space of no width, a control character
  write("rows.csv", "text,label\n" + nothing + ",yes\n,no\ngood,yes\nbad,no\n");
  run_well(prepare_pieces("data", {"--valid-share", "0", "--test-share", "0"}));
  const Json rejects = Json::parse(read_file("data/dataset.json")).at("rejects");
  EXPECT_EQ(rejects.at("no words left after cleaning"), 2);
  run_well(bert("data", "run", {"--steps", "2", "--batch-size", "2", "--grain-size", "1"}));
  const Json answer = ask({"predict", "run", "--text", nothing, "--details", "--json"});
  EXPECT_EQ(answer.at("tokens"), (Json{"[CLS]", "[SEP]"}));
  EXPECT_TRUE(answer.at("logits").at(0).is_number());
  write("rows.csv", "text,label\n" + nothing + ",yes\n,no\n");
  refuses(prepare_pieces("none"), {"rows.csv", "no words left after cleaning"});
}

TEST_F(BertInput, TenThousandWordsAreCutAndCounted) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += i % 2 ? "good " : "it ";
  write("rows.csv", "text,label\n" + text + ",yes\nbad,no\n" + text + ",no\ngood,yes\n");
  const Output said = run(prepare_pieces("data", {"--valid-share", "0", "--test-share", "0"}));
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "2 of 4 rows were cut to 512 ids")) << said.out;
  EXPECT_EQ(Json::parse(read_file("data/dataset.json")).at("splits").at(0).at("truncated_rows"), 2);
  run_well(bert("data", "run", {"--steps", "2", "--batch-size", "4"}));
  const Json answer = ask({"predict", "run", "--text", text, "--details", "--json"});
  EXPECT_EQ(answer.at("tokens").size(), 32u) << "the model's positions";
  EXPECT_EQ(answer.at("tokens").back(), "[SEP]");
}

class SeveralLabels : public BertInput {
 protected:
  static Words prepare_labels(const std::string& out, const std::string& test_share = "0") {
    return {"prepare",     "--input",      "rows.csv",         "--label",   "toxic,threat",
            "--tokenizer", "wordpiece",    "--tokenizer-from", "vocab.txt", "--valid-share",
            "0",           "--test-share", test_share,         "--out",     out};
  }
};

TEST_F(SeveralLabels, ValuesOtherThanZeroAndOneAreKeptAsideWithTheirPlace) {
  write("rows.csv", "text,toxic,threat\ngood,0,0\nbad,1,-1\nbad it,maybe,0\nbad,1,1\ngood,0,0\n");
  run_well(prepare_labels("data"));
  EXPECT_EQ(Json::parse(read_file("data/dataset.json")).at("rejects").at("a label other than 0 and 1"), 2);
  const std::string rejects = read_file("data/rejects.jsonl");
  EXPECT_TRUE(has(rejects, "\"line\":3")) << rejects;
  EXPECT_TRUE(has(rejects, "maybe")) << rejects;
  write("rows.csv", "text,toxic,threat\ngood,0.5,0\nbad,2,1\n");
  refuses(prepare_labels("none"), {"rows.csv:2", "a label other than 0 and 1"});
}

TEST_F(SeveralLabels, OneWithoutPositivesHasNoAucAndThatIsSaid) {
  std::string rows = "text,toxic,threat\n";
  for (int i = 0; i < 120; ++i) rows += fmt::format("{} {},{},0\n", i % 2 ? "bad" : "good", i, i % 2);
  write("rows.csv", rows);
  run_well(prepare_labels("data", "0.3"));
  run_well(bert("data", "run", {"--steps", "3"}));
  const Json scores = ask({"evaluate", "run", "--data", "data", "--json"});
  EXPECT_TRUE(scores.at("classes").at(1).at("auc").is_null()) << scores;
  EXPECT_TRUE(scores.at("classes").at(0).at("auc").is_number()) << scores;
  const Output shown = run({"evaluate", "run", "--data", "data"});
  EXPECT_TRUE(has(shown.out, "'threat' are undefined: no positive sample")) << shown.out;
  EXPECT_FALSE(has(shown.out, "nan")) << shown.out;
}

}  // namespace
}  // namespace paceline
