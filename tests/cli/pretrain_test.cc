// Pre-training in the hands of its users: from texts without labels to a model that guesses words, and on to
// a classifier.
#include <cmath>
#include <csignal>
#include <thread>

#include "training.h"

namespace paceline {
namespace {

class Pretrain : public Training {
 protected:
  void SetUp() override {
    Training::SetUp();
    write("vocab.txt",
          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\ndog\nsat\nran\non\nto\nmat\ndoor\n##ly\nquick\n.\n");
    std::string lines, rows = "text,label\n";
    for (int i = 0; i < 400; ++i) {
      const std::string line = i % 2 ? "the cat sat on the mat ." : "the dog ran quickly to the door .";
      lines += line + "\n";
      rows += line + (i % 2 ? ",cat\n" : ",dog\n");
    }
    write("lines.txt", lines);
    write("rows.csv", rows);
  }
  static void prepare(const std::string& out, const Words& more = {}) {
    Words all = {"prepare",     "--input",   "lines.txt",        "--format",  "text",
                 "--tokenizer", "wordpiece", "--tokenizer-from", "vocab.txt", "--valid",
                 "lines.txt",   "--test",    "lines.txt",        "--out",     out};
    all.insert(all.end(), more.begin(), more.end());
    run_well(all);
  }
  static void pack(const std::string& out) { prepare(out, {"--pack", "--max-length", "16"}); }
  static Words pretrain(const std::string& data, const std::string& out, const Words& more = {}) {
    Words all = {"train", "--data",          data,    "--model",       "bert", "--out",
                 out,     "--heads",         "2",     "--steps",       "60",   "--intermediate",
                 "32",    "--bert-hidden",   "16",    "--bert-layers", "2",    "--positions",
                 "16",    "--learning-rate", "0.005", "--batch-size",  "16"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Long enough to know both sentences by heart.
  static Words learn(Words more = {}) {
    more.insert(more.begin(), {"--steps", "1000", "--bert-hidden", "32", "--hidden-dropout", "0",
                               "--attention-dropout", "0", "--learning-rate", "0.003"});
    return pretrain("data", "run", more);
  }
  static Json ask(const Words& arguments) {
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 0) << output.err;
    return Json::parse(output.out);
  }
  static Json scores(const std::string& model, const std::string& data) {
    return ask({"evaluate", model, "--data", data, "--json"});
  }
};

TEST_F(Pretrain, LearnsToGuessMaskedWords) {
  pack("data");
  const Json result = ask(learn({"--evaluate-every", "500", "--json"}));
  EXPECT_LT(result.at("best_perplexity").get<double>(), 1.5);
  const Json found = scores("run", "data");
  EXPECT_LT(found.at("perplexity").get<double>(), 1.5);
  EXPECT_GT(found.at("masked_accuracy").get<double>(), 0.9);
  EXPECT_NEAR(found.at("perplexity").get<double>(), std::exp(found.at("mean_loss").get<double>()), 1e-9);
  EXPECT_GT(found.at("masked_pieces").get<uint64_t>(), found.at("samples").get<uint64_t>());
  const Json step = last("run", "step");
  EXPECT_NEAR(step.at("perplexity").get<double>(), std::exp(step.at("loss").get<double>()), 1e-9);
  EXPECT_TRUE(step.contains("masked_accuracy"));
  EXPECT_TRUE(last("run", "evaluation").at("scores").contains("perplexity"));
  EXPECT_TRUE(has(run({"inspect", "run"}).out, "masked accuracy"));
  EXPECT_TRUE(has(run({"evaluate", "run", "--data", "data"}).out, "perplexity"));
  EXPECT_TRUE(has(run({"evaluate", "run", "--data", "data", "--checkpoint", "500,1000"}).out, "change"));
  EXPECT_TRUE(has(read_file("run/log.txt"), "on valid perplexity"));
}

TEST_F(Pretrain, TheMasksOfAnEvaluationAreTheSameEveryTime) {
  pack("data");
  run_well(pretrain("data", "run"));
  const Json once = scores("run", "data");
  EXPECT_EQ(once, scores("run", "data"));
  EXPECT_EQ(once, ask({"evaluate", "run", "--data", "data", "--json", "--executors", "1"}));
}

TEST_F(Pretrain, PredictFillsMasks) {
  prepare("data");
  run_well(learn());
  const std::string text = "the [MASK] sat on the [MASK] .";
  const Json answer = ask({"predict", "run", "--text", text, "--json", "--details"});
  EXPECT_EQ(answer.at("tokens"),
            (Json{"[CLS]", "the", "[MASK]", "sat", "on", "the", "[MASK]", ".", "[SEP]"}));
  ASSERT_EQ(answer.at("masks").size(), 2u);
  EXPECT_EQ(answer.at("masks")[0].at("position"), 2);
  EXPECT_EQ(answer.at("masks")[0].at("words").size(), 5u);
  EXPECT_EQ(answer.at("masks")[0].at("words")[0].at("word"), "cat");
  EXPECT_EQ(answer.at("masks")[1].at("words")[0].at("word"), "mat");
  EXPECT_TRUE(has(run({"predict", "run", "--text", text}).out, "cat"));
  EXPECT_TRUE(has(run({"predict", "run", "--text", text, "--details"}).out, "[MASK]"));
  const Output lines = run({"predict", "run"}, text + "\nno mask\n");
  EXPECT_EQ(lines.code, 0) << lines.err;
  EXPECT_TRUE(lines.out.starts_with("cat\t") && lines.out.ends_with("\nno mask\n")) << lines.out;
  refuses({"predict", "run", "--text", "the cat"}, {"--text", "[MASK]", "the cat"});
}

TEST_F(Pretrain, DoesNotDependOnExecutors) {
  pack("data");
  for (const Words& more : {Words{}, Words{"--whole-words", "--ema", "0.9", "--recompute"}}) {
    std::string first;
    for (const std::string executors : {"1", "2", "3"}) {
      Words all = pretrain("data", "run", {"--executors", executors, "--grain-size", "3"});
      all.insert(all.end(), more.begin(), more.end());
      run_well(all);
      if (first.empty()) first = weights("run");
      EXPECT_TRUE(first == weights("run")) << executors << " executors differ from one";
      fs::remove_all("run");
    }
  }
}

TEST_F(Pretrain, KilledAtAnyMomentItEndsInTheSameBits) {
  pack("data");
  const Words more = {"--steps", "200", "--save-every", "9", "--evaluate-every", "50"};
  run_well(pretrain("data", "whole", more));
  Words next = pretrain("data", "cut", more);
  for (int i = 0; i < 4; ++i) {
    Process process(with_program(next));
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 60 * i));
    process.signal(SIGKILL);
    process.wait();
    if (fs::exists("cut")) next = resume("cut");
  }
  run_well(next);
  EXPECT_TRUE(weights("cut") == weights("whole"));
}

TEST_F(Pretrain, TextsThatAreNotPackedTrainToo) {
  prepare("data");
  run_well(pretrain("data", "run"));
  EXPECT_LT(scores("run", "data").at("perplexity").get<double>(), 17);
}

TEST_F(Pretrain, AClassifierStartsFromItAndItStartsFromAClassifier) {
  pack("data");
  run_well(pretrain("data", "masked"));
  run_well({"prepare", "--input", "rows.csv", "--valid", "rows.csv", "--test", "rows.csv", "--label", "label",
            "--tokenizer", "wordpiece", "--tokenizer-from", "masked", "--max-length", "16", "--out",
            "labelled"});
  const Words classify = {"train",  "--data",          "labelled", "--model", "bert",
                          "--init", "masked",          "--steps",  "30",      "--batch-size",
                          "16",     "--learning-rate", "0.005",    "--out",   "classifier"};
  const Output forth = run(classify);
  EXPECT_EQ(forth.code, 0) << forth.err;
  EXPECT_TRUE(has(forth.err, "random at the start") && has(forth.err, "classifier.weight") &&
              has(forth.err, "bert.pooler.dense.weight") && !has(forth.err, "encoder"))
      << forth.err;
  const Output back = run({"train", "--data", "data", "--model", "bert", "--init", "classifier", "--steps",
                           "3", "--batch-size", "16", "--out", "again"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_TRUE(has(back.err, "cls.predictions.bias (there is none)")) << back.err;
  const Output on = run({"train", "--data", "data", "--model", "bert", "--init", "masked", "--steps", "3",
                         "--batch-size", "16", "--learning-rate", "1e-9", "--out", "continued"});
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_FALSE(has(on.err, "random at the start")) << on.err;
  EXPECT_NEAR(scores("continued", "data").at("mean_loss").get<double>(),
              scores("masked", "data").at("mean_loss").get<double>(), 1e-4);
}

TEST_F(Pretrain, AModelsFolderIsInTheLayoutOfHuggingFace) {
  pack("data");
  run_well(pretrain("data", "run", {"--steps", "2"}));
  const Json config = Json::parse(read_file("run/model/config.json"));
  EXPECT_EQ(config.at("architectures"), Json{"BertForMaskedLM"});
  EXPECT_EQ(config.at("labels"), "none");
  EXPECT_FALSE(config.contains("id2label"));
  EXPECT_EQ(Json::parse(read_file("run/model/tokenizer_config.json")).at("mask_token"), "[MASK]");
  EXPECT_TRUE(has(weights("run"), "cls.predictions.transform.LayerNorm.weight"));
  EXPECT_FALSE(has(weights("run"), "pooler"));
}

TEST_F(Pretrain, OptionsAndDataThatDoNotFitAreNamed) {
  pack("data");
  run_well({"prepare", "--input", "rows.csv", "--valid", "rows.csv", "--test", "rows.csv", "--label", "label",
            "--tokenizer", "wordpiece", "--tokenizer-from", "vocab.txt", "--out", "labelled"});
  refuses(pretrain("data", "run", {"--loss", "focal"}), {"--loss focal", "data", "no labels"});
  refuses(pretrain("data", "run", {"--class-weights", "balanced"}),
          {"--class-weights balanced", "no labels"});
  refuses(pretrain("data", "run", {"--stop-on", "macro_f1"}),
          {"--stop-on macro_f1", "where texts have labels", "perplexity"});
  refuses(pretrain("labelled", "run", {"--stop-on", "perplexity"}),
          {"--stop-on perplexity", "where there are no labels", "macro_f1"});
  refuses(pretrain("labelled", "run", {"--whole-words"}), {"--whole-words", "labelled", "labels"});
  refuses(pretrain("data", "run", {"--piece-dropout", "0.1"}), {"--piece-dropout 0.1", "data", "no labels"});
  refuses(pretrain("data", "run", {"--max-length", "8"}), {"data", "packed to 16", "--max-length 8"});
  refuses(pretrain("data", "run", {"--positions", "12"}), {"data", "packed to 16", "--positions"});
  refuses({"train", "--data", "data", "--model", "lstm", "--out", "run"},
          {"data", "no labels", "--model lstm"});
  run_well(pretrain("data", "run", {"--steps", "2"}));
  refuses({"evaluate", "run", "--data", "labelled"}, {"labelled", "it has labels", "without --label"});
  refuses({"evaluate", "run", "--data", "data", "--top", "3"}, {"--top", "no classes"});
  refuses({"evaluate", "run", "--data", "data", "--of", "cat"}, {"--of", "no classes"});
  refuses({"evaluate", "run", "--data", "data", "--baseline"}, {"data", "no labels", "--model ngram"});
  Json config = Json::parse(read_file("run/model/config.json"));
  config["tie_word_embeddings"] = false;
  write("run/model/config.json", config.dump());
  refuses({"train", "--data", "data", "--model", "bert", "--init", "run", "--out", "next"},
          {"run", "tie_word_embeddings"});
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\ndog\n");
  prepare("unmasked", {"--pack", "--max-length", "16"});
  refuses(pretrain("unmasked", "other"), {"unmasked/vocab.txt", "[MASK]"});
}

TEST_F(Pretrain, AModelWhoseNumbersDoNotFitIsRefused) {
  pack("data");
  run_well(pretrain("data", "run", {"--steps", "2"}));
  const std::string config = read_file("run/model/config.json");
  const auto refuse = [&](const std::string& key, const Json& value, const Words& parts) {
    Json changed = Json::parse(config);
    changed[key] = value;
    write("run/model/config.json", changed.dump());
    EXPECT_TRUE(is_one_sentence(run({"predict", "run", "--text", "[MASK]"}), 2, parts)) << key;
  };
  refuse("labels", "some", {"config.json", "labels are 'some'"});
  refuse("labels", "single", {"config.json", "impossible number of classes"});
  refuse("classes", Json{"a"}, {"config.json", "impossible number of classes"});
  refuse("model", "lstm", {"config.json", "labels are 'none'"});
  refuse("vocab_size", 18, {"word_embeddings", "17 x 16", "18 x 16"});
  write("run/model/config.json", config);
  Json longer = Json::parse(config);
  longer["max_length"] = 1 << 20;
  write("run/model/config.json", longer.dump());
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the [MASK] ";
  EXPECT_EQ(ask({"predict", "run", "--text", text, "--json"}).at("masks").size(), 7u)
      << "cut to the positions that the model has";
}

}  // namespace
}  // namespace paceline
