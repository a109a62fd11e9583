// Model bert in the hands of its users: from a data set of pieces to answers, from one model to the next.
#include <algorithm>
#include <csignal>
#include <thread>

#include "bert_fixture.h"

namespace paceline {
namespace {

using Bert = BertTraining;

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

TEST_F(Bert, LibTorchsOperationsTrainAlikeUpToRounding) {
  prepare("data");
  const Words more = {"--steps", "12", "--freeze", "1", "--executors", "2"};
  run_well(bert("data", "fused", more));
  Words aten = bert("data", "aten", more);
  aten.insert(aten.end(), {"--kernels", "aten"});
  run_well(aten);
  const double loss = last("fused", "step").at("loss");
  EXPECT_NEAR(last("aten", "step").at("loss").get<double>(), loss, 1e-4 * loss);
  EXPECT_FALSE(weights("fused") == weights("aten")) << "LibTorch was not used";
  EXPECT_EQ(accuracy("fused", "data"), accuracy("aten", "data"));
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

TEST_F(Bert, PredictTakesPairs) {
  prepare("data", {"--text-pair", "second"});
  run_well(bert("data", "run", {"--steps", "4"}));
  const Words asked = {"predict", "run", "--text", "goodly", "--text-pair", "is it", "--details"};
  const auto with = [&](const Words& more) {
    Words all = asked;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Json answer = ask(with({"--pad-to", "9", "--json"}));
  EXPECT_EQ(answer.at("text_pair"), "is it");
  EXPECT_EQ(answer.at("input_ids"), (Json{2, 5, 7, 3, 9, 8, 3, 0, 0}));
  EXPECT_EQ(answer.at("token_type_ids"), (Json{0, 0, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(has(run(asked).out, "goodly | is it"));
  EXPECT_NE(answer.at("logits"),
            ask({"predict", "run", "--text", "goodly", "--details", "--json"}).at("logits"));
  write("pairs.txt", "goodly\tis it\n");
  EXPECT_EQ(
      ask({"predict", "run", "--input", "pairs.txt", "--pairs", "--details", "--pad-to", "9", "--json"}),
      answer);

  refuses(with({"--text-pair", "b"}), {"--text-pair", "2 second texts for 1 texts"});
  refuses({"predict", "run", "--text-pair", "b"}, {"--text-pair", "give one for each --text"});
  refuses(with({"--pairs"}), {"--pairs", "--text-pair"});
  refuses({"predict", tiny_run(), "--text", "good", "--text-pair", "a"}, {"pairs", "wordpiece"});
  write("pairs.txt", "good\tbad\ngood bad\n");
  refuses({"predict", "run", "--input", "pairs.txt", "--pairs"}, {"pairs.txt:2", "no tab"});
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

TEST_F(Bert, HidesPiecesInTrainingOnly) {
  prepare("data");
  const auto hiding = [](const std::string& data, const std::string& out, const Words& more) {
    Words all = bert(data, out, more);
    *std::ranges::find(all, "40") = "80";  // steps: hidden words are learnt more slowly
    all.insert(all.end(), {"--piece-dropout", "0.2"});
    return all;
  };
  std::string first;
  for (const std::string executors : {"1", "3"}) {
    run_well(hiding("data", "run" + executors, {"--executors", executors}));
    const std::string weights = read_file("run" + executors + "/model/model.safetensors");
    if (first.empty()) first = weights;
    EXPECT_TRUE(first == weights);
  }
  EXPECT_GT(accuracy("run1", "data"), 0.9);
  const Words of_checkpoint = {"evaluate", "run1", "--data", "data", "--checkpoint", "80", "--json"};
  EXPECT_GT(ask(of_checkpoint).at("accuracy"), 0.9);
  run_well(hiding("data", "aten", {"--kernels", "aten"}));
  EXPECT_GT(accuracy("aten", "data"), 0.9);
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\n##ly\nit\nis\nthis\n.\n");
  prepare("maskless");
  const Output output = run(hiding("maskless", "run4", {}));
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("[MASK]"), std::string::npos) << output.err;
  EXPECT_FALSE(fs::exists("run4"));
}

}  // namespace
}  // namespace paceline
