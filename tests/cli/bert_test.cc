// Model bert in the hands of its users: from a data set of pieces to answers, from one model to the next.
#include <csignal>
#include <thread>

#include "training.h"

namespace paceline {
namespace {

class Bert : public Training {
 protected:
  void SetUp() override {
    Training::SetUp();
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n##ly\nit\nis\nthis\n.\n");
    std::string rows = "text,second,label\n";
    for (int i = 0; i < 240; ++i) {
      std::string filler;
      for (int word = 0; word < i % 13; ++word) filler += word % 3 == 0 ? "it " : "this is ";
      rows += filler + (i % 2 ? "goodly good. " : "bad ") + std::to_string(i) +
              (i % 2 ? ",is it,yes\n" : ",it is,no\n");
    }
    write("rows.csv", rows);
  }
  static void prepare(const std::string& out, const Words& more = {}) { run_well(prepare_pieces(out, more)); }
  // Learns within 40 steps.
  static Words bert(const std::string& data, const std::string& out, const Words& more = {}) {
    Words all = {"train", "--data",          data,   "--model",       "bert", "--out",
                 out,     "--heads",         "2",    "--steps",       "40",   "--intermediate",
                 "24",    "--bert-hidden",   "16",   "--bert-layers", "2",    "--positions",
                 "32",    "--learning-rate", "0.005"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Words from(const std::string& init, const std::string& out, const Words& more = {}) {
    Words all = {"train", "--data", "data", "--model", "bert", "--init", init, "--steps", "6", "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Json ask(const Words& arguments) {
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 0) << output.err;
    return Json::parse(output.out);
  }
  static double accuracy(const std::string& model, const std::string& data) {
    return ask({"evaluate", model, "--data", data, "--json"}).at("accuracy");
  }
};

TEST_F(Bert, TrainsEvaluatesAndPredicts) {
  prepare("data");
  run_well(bert("data", "run"));
  EXPECT_GT(accuracy("run", "data"), 0.95);
  const Json answer = ask({"predict", "run", "--text", "This is goodly", "--details", "--json"});
  EXPECT_EQ(answer.at("tokens"), (Json{"[CLS]", "this", "is", "good", "##ly", "[SEP]"}));
  EXPECT_EQ(answer.at("label"), "yes");
  EXPECT_EQ(ask({"predict", "run", "--text", "", "--json"}).count("label"), 1u);
}

TEST_F(Bert, DoesNotDependOnExecutors) {
  prepare("data");
  for (const Words& more : {Words{}, Words{"--freeze", "1", "--layer-decay", "0.7", "--ema", "0.9"}}) {
    std::string first;
    for (const std::string executors : {"1", "2", "3"}) {
      Words all = bert("data", "run", {"--executors", executors, "--grain-size", "3"});
      all.insert(all.end(), more.begin(), more.end());
      run_well(all);
      if (first.empty()) first = weights("run");
      EXPECT_TRUE(first == weights("run")) << executors << " executors differ from one";
      fs::remove_all("run");
    }
  }
}

TEST_F(Bert, ComputingLayersAgainChangesNoBit) {
  prepare("data");
  run_well(bert("data", "kept"));
  run_well(bert("data", "again", {"--recompute"}));
  EXPECT_TRUE(weights("kept") == weights("again"));
}

TEST_F(Bert, KilledAtAnyMomentItEndsInTheSameBits) {
  prepare("data");
  run_well(bert("data", "first"));
  run_well(from("first", "whole", {"--steps", "150", "--save-every", "9"}));
  Words next = from("first", "cut", {"--steps", "150", "--save-every", "9"});
  for (int i = 0; i < 4; ++i) {
    Process process(with_program(next));
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 60 * i));
    process.signal(SIGKILL);
    process.wait();
    if (fs::exists("cut")) next = resume("cut");
  }
  fs::rename("first", "elsewhere");  // a checkpoint needs it no more
  if (checkpoints("cut").empty()) fs::rename("elsewhere", "first");
  run_well(next);
  EXPECT_TRUE(weights("cut") == weights("whole"));
}

TEST_F(Bert, WithoutACheckpointARunBeginsAgainWithTheWeightsOfInit) {
  prepare("data");
  run_well(bert("data", "first"));
  run_well(from("first", "run"));
  const std::string whole = weights("run");
  fs::remove_all("run/checkpoints");
  run_well(resume("run"));
  EXPECT_TRUE(weights("run") == whole);
}

TEST_F(Bert, InitTakesShapeAndWeightsFromAModel) {
  prepare("data");
  run_well(bert("data", "first", {"--activation", "relu", "--hidden-dropout", "0.25"}));
  run_well(from("first", "run", {"--learning-rate", "1e-9", "--attention-dropout", "0.125"}));
  const Json before = Json::parse(read_file("first/model/config.json")),
             after = Json::parse(read_file("run/model/config.json"));
  for (const char* key :
       {"hidden_size", "num_hidden_layers", "max_position_embeddings", "hidden_act", "vocab_size"})
    EXPECT_EQ(before.at(key), after.at(key)) << key;
  EXPECT_EQ(after.at("hidden_dropout_prob"), 0.25);
  EXPECT_EQ(after.at("attention_probs_dropout_prob"), 0.125);
  EXPECT_EQ(accuracy("first", "data"), accuracy("run", "data"));
  EXPECT_FALSE(last("run", "data").at("init").at("model.safetensors").get<std::string>().empty());
  run_well({"train", "--config", "run/config.yaml", "--out", "repeated"});
  EXPECT_TRUE(weights("run") == weights("repeated"));
}

TEST_F(Bert, InitBelongsToTheBitsAndSaysWhatItHasNot) {
  prepare("data");
  run_well(bert("data", "first"));
  run_well(from("first", "frozen", {"--freeze", "2", "--ema", "0.5", "--learning-rate", "1e-9"}));
  EXPECT_EQ(accuracy("first", "data"), accuracy("frozen", "data")) << "an average without the frozen layers";
  write("rows.csv", "text,label\nit is,a\ngood,b\nbad,c\nthis,a\ngoodly,b\nis,c\n");
  run_well({"prepare", "--input", "rows.csv", "--label", "label", "--tokenizer", "wordpiece",
            "--tokenizer-from", "first", "--valid-share", "0", "--test-share", "0", "--out", "three"});
  const Output output = run({"train", "--data", "three", "--model", "bert", "--init", "first/model",
                             "--steps", "2", "--batch-size", "6", "--out", "run"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.err, "classifier.weight (there it is 2 x 16, here 3 x 16)")) << output.err;
}

TEST_F(Bert, PairsHaveTwoTypesOfTokens) {
  prepare("data", {"--text-pair", "second"});
  run_well(bert("data", "two", {"--steps", "80"}));
  run_well(bert("data", "one", {"--steps", "80", "--types", "1"}));
  EXPECT_GT(accuracy("two", "data"), 0.95);
  EXPECT_GT(accuracy("one", "data"), 0.95);
}

TEST_F(Bert, AModelsFolderIsInTheLayoutOfHuggingFace) {
  prepare("data");
  run_well(bert("data", "run"));
  const Json config = Json::parse(read_file("run/model/config.json"));
  EXPECT_EQ(config.at("model_type"), "bert");
  EXPECT_EQ(config.at("architectures"), Json{"BertForSequenceClassification"});
  EXPECT_EQ(config.at("num_labels"), 2);
  EXPECT_EQ(config.at("problem_type"), "single_label_classification");
  EXPECT_EQ(config.at("id2label"), (Json{{"0", "no"}, {"1", "yes"}}));
  EXPECT_EQ(config.at("label2id"), (Json{{"no", 0}, {"yes", 1}}));
  EXPECT_EQ(Json::parse(read_file("run/model/tokenizer_config.json")).at("do_lower_case"), true);
  EXPECT_EQ(Json::parse(read_file("run/model/special_tokens_map.json")).at("cls_token"), "[CLS]");
  EXPECT_EQ(read_file("run/model/vocab.txt"), read_file("vocab.txt"));
}

TEST_F(Bert, OptionsThatContradictTheModelOrTheDataAreNamed) {
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
  refuses(bert("data", "run", {"--device", "cuda"}), {"--device cuda", "bert"});
  refuses(bert(tiny_data(), "run"), {tiny_data(), "--tokenizer wordpiece"});
  refuses(from("first", "run", {"--model", "lstm"}), {"--init", "lstm"});
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n##ly\nit\nwas\nthis\n.\n");
  prepare("other");
  refuses({"train", "--data", "other", "--model", "bert", "--init", "first", "--out", "run"},
          {"other", "another vocabulary", "--tokenizer-from first"});
}

TEST_F(Bert, AModelWhoseNumbersDoNotFitItsWeightsIsRefused) {
  prepare("data");
  run_well(bert("data", "run", {"--steps", "2"}));
  const std::string config = read_file("run/model/config.json");
  const auto refuse = [&](const std::string& key, const std::string& value, const Words& parts) {
    Json changed = Json::parse(config);
    changed[key] = Json::parse(value);
    write("run/model/config.json", changed.dump());
    EXPECT_TRUE(is_one_sentence(run({"predict", "run", "--text", "fine"}), 2, parts)) << key << " " << value;
  };
  refuse("hidden_size", "18", {"model.safetensors"});
  refuse("hidden_size", "17", {"config.json", "hidden_size", "num_attention_heads"});
  refuse("vocab_size", "11", {"config.json", "vocab_size", "12 pieces"});
  refuse("vocab_size", "13", {"word_embeddings", "12 x 16", "13 x 16"});
  refuse("num_hidden_layers", "3", {"model.safetensors"});
  refuse("num_hidden_layers", "-1", {"config.json", "num_hidden_layers"});
  refuse("hidden_act", "\"swish\"", {"config.json", "hidden_act", "swish"});
}

}  // namespace
}  // namespace paceline
