// predict, evaluate, inspect and quickstart on a model that was trained here.
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

class ModelCommands : public Scratch {
 protected:
  static std::string ask(Words arguments, std::string_view input = "") {
    const Output output = run(std::move(arguments), input);
    EXPECT_EQ(output.code, 0) << output.err;
    return output.out;
  }
  static Words lines(const std::string& text) {
    Words all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  const std::string model_ = tiny_run(), data_ = tiny_data();
};

TEST_F(ModelCommands, PredictAnswersTextFileAndLinesAlike) {
  write("lines.txt", "I love it\nWhat a waste\r\n");
  const std::string from_input = ask({"predict", model_, "--input", "lines.txt"});
  const std::string from_lines = ask({"predict", model_}, "I love it\nWhat a waste");
  const std::string from_text =
      ask({"predict", model_, "--format", "tsv", "--text", "I love it", "What a waste"});
  EXPECT_EQ(from_input, from_lines);
  EXPECT_EQ(from_input, from_text);
  ASSERT_EQ(lines(from_input).size(), 2u);
  EXPECT_TRUE(lines(from_input)[0].ends_with("\tI love it")) << from_input;
  EXPECT_EQ(std::count(from_input.begin(), from_input.end(), '\t'), 6) << "label, two probabilities, text";
}

TEST_F(ModelCommands, PredictAnswersEveryLineSoThatTheyStandSideBySide) {
  EXPECT_EQ(lines(ask({"predict", model_}, "one\n\nthree\n\n")).size(), 4u);
  EXPECT_EQ(lines(ask({"predict", model_}, "\xEF\xBB\xBFone")), lines(ask({"predict", model_}, "one")));
}

TEST_F(ModelCommands, PredictShowsATableForTexts) {
  const Words table = lines(ask({"predict", model_, "--text", "I love it"}));
  ASSERT_EQ(table.size(), 3u);
  for (const char* column : {"label", "negative", "positive", "text"})
    EXPECT_TRUE(has(table[0], column)) << table[0];
  EXPECT_TRUE(has(table[2], "I love it"));
}

TEST_F(ModelCommands, DetailsHaveTheKeysOfTheContract) {
  const auto answer =
      Json::parse(ask({"predict", model_, "--text", "I love it, qqzzqq", "--details", "--json"}));
  for (const char* key :
       {"input_ids", "attention_mask", "logits", "probabilities", "label", "tokens", "text"})
    EXPECT_TRUE(answer.contains(key)) << key;
  EXPECT_EQ(answer.at("tokens"), (Json{"i", "love", "it", ",", "qqzzqq"}));
  ASSERT_EQ(answer.at("input_ids").size(), 5u);
  EXPECT_EQ(answer.at("input_ids").at(4), 1) << "a word that was never seen is <unk>";
  EXPECT_EQ(answer.at("attention_mask"), (Json{1, 1, 1, 1, 1}));
  EXPECT_EQ(answer.at("logits").size(), 2u);
  const double negative = answer.at("probabilities").at("negative"),
               positive = answer.at("probabilities").at("positive");
  EXPECT_NEAR(negative + positive, 1, 1e-5);
  EXPECT_EQ(answer.at("label"), negative > positive ? "negative" : "positive");
}

TEST_F(ModelCommands, DetailsArePaddedWhenAsked) {
  const auto answer =
      Json::parse(ask({"predict", model_, "--text", "I love it", "--details", "--json", "--pad-to", "5"}));
  EXPECT_EQ(answer.at("attention_mask"), (Json{1, 1, 1, 0, 0}));
  EXPECT_EQ(answer.at("input_ids").at(4), 0);
}

TEST_F(ModelCommands, PredictTakesTextOrInputNotBoth) {
  write("lines.txt", "one\n");
  refuses({"predict", model_, "--text", "one", "--input", "lines.txt"}, {"--text", "--input"});
}

TEST_F(ModelCommands, EvaluatePutsTheNullClassifierBesideTheModel) {
  const std::string page = ask({"evaluate", model_, "--data", data_});
  for (const char* part : {"accuracy", "precision", "recall", "macro-F1", "AUC", "this model",
                           "always 'positive'", "true \\ predicted"})
    EXPECT_TRUE(has(page, part)) << part << " in\n" << page;
  EXPECT_FALSE(has(page, "baseline"));
  const auto scores = Json::parse(ask({"evaluate", model_, "--data", data_, "--split", "valid", "--json"}));
  EXPECT_EQ(scores.at("split"), "valid");
  EXPECT_TRUE(scores.contains("null_classifier"));
}

TEST_F(ModelCommands, TopShowsTheTextsAtBothEnds) {
  const auto result =
      Json::parse(ask({"evaluate", model_, "--data", data_, "--top", "3", "--json"})).at("top");
  EXPECT_EQ(result.at("of"), "positive");
  ASSERT_EQ(result.at("highest").size(), 3u);
  ASSERT_EQ(result.at("lowest").size(), 3u);
  EXPECT_GE(result.at("highest")[0].at("score"), result.at("highest")[2].at("score"));
  EXPECT_LE(result.at("lowest")[0].at("score"), result.at("lowest")[2].at("score"));
  for (const auto& wrong : result.at("most_wrong"))
    EXPECT_EQ(wrong.at("truth").get<bool>(), wrong.at("score").get<double>() < 0.5) << wrong;
  // What predict says of a text is what evaluate says.
  const auto& best = result.at("highest")[0];
  const auto answer =
      Json::parse(ask({"predict", model_, "--json", "--text", best.at("text").get<std::string>()}));
  EXPECT_NEAR(answer.at("probabilities").at("positive").get<double>(), best.at("score").get<double>(), 1e-6);
  const std::string page = ask({"evaluate", model_, "--data", data_, "--top", "2", "--of", "negative"});
  for (const char* part : {"the highest scores for 'negative'", "the lowest scores", "the most wrong"})
    EXPECT_TRUE(has(page, part)) << part << " in\n" << page;
  refuses({"evaluate", model_, "--data", data_, "--top", "2", "--of", "funny"},
          {"--of funny", "negative, positive"});
}

TEST_F(ModelCommands, TwoCheckpointsStandSideBySide) {
  ask({"train", "--data", data_, "--model", "ngram", "--buckets", "1000", "--out", "run", "--epochs", "2",
       "--save-every", "10", "--keep", "100"});
  Words steps;
  for (const auto& entry : fs::directory_iterator("run/checkpoints"))
    steps.push_back(entry.path().filename().string().substr(5));
  ASSERT_GE(steps.size(), 2u);
  const std::string first = *std::ranges::min_element(steps, {}, [](const auto& s) { return std::stoi(s); });
  const auto both = Json::parse(
      ask({"evaluate", "run", "--data", data_, "--checkpoint", first + ",last", "--top", "1", "--json"}));
  ASSERT_EQ(both.at("checkpoints").size(), 2u);
  EXPECT_EQ(std::to_string(both.at("checkpoints")[0].at("step").get<int>()), first);
  EXPECT_LT(both.at("checkpoints")[0].at("step"), both.at("checkpoints")[1].at("step"));
  EXPECT_NE(both.at("checkpoints")[0].at("mean_loss"), both.at("checkpoints")[1].at("mean_loss"));
  const std::string page =
      ask({"evaluate", "run", "--data", data_, "--checkpoint", first + ",last", "--top", "1"});
  for (const std::string& part :
       {"step " + first, std::string("change"), "step " + first + ": the highest scores"})
    EXPECT_TRUE(has(page, part.c_str())) << part << " in\n" << page;
  // The best checkpoint is the model that the run kept.
  auto best = Json::parse(ask({"evaluate", "run", "--data", data_, "--checkpoint", "best", "--json"}));
  best.erase("step");
  EXPECT_EQ(best, Json::parse(ask({"evaluate", "run", "--data", data_, "--json"})));
  refuses({"evaluate", "run", "--data", data_, "--checkpoint", "123456"}, {"--checkpoint 123456", first});
  for (const std::string& half : {first + ",", "," + first, std::string(",")})
    refuses({"evaluate", "run", "--data", data_, "--checkpoint", half}, {"--checkpoint " + half, "name two"});
  refuses({"evaluate", "run", "--data", data_, "--checkpoint", "1,2,3"},
          {"--checkpoint 1,2,3", "one or two"});
  refuses({"evaluate", model_ + "/model", "--data", data_, "--checkpoint", "last"}, {"config.yaml"});
}

TEST_F(ModelCommands, ManyLinesAreAnsweredInTheirOrderAndAsAlone) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += (i % 3 == 0   ? "I love it"
             : i % 3 == 1 ? ""
                          : "What a waste of time and money, never again") +
            std::string(i % 50, '!') + "\n";
  write("lines.txt", text);
  const Words answers = lines(ask({"predict", model_, "--input", "lines.txt"})), asked = lines(text);
  ASSERT_EQ(answers.size(), asked.size());
  for (size_t i = 0; i < asked.size(); ++i) ASSERT_TRUE(answers[i].ends_with("\t" + asked[i])) << answers[i];
  for (size_t i : {0, 1, 2, 2999})
    EXPECT_EQ(answers[i] + "\n", ask({"predict", model_, "--format", "tsv", "--text", asked[i]}));
}

TEST_F(ModelCommands, BaselineIsTrainedAndShownBeside) {
  const std::string page = ask({"evaluate", model_, "--data", data_, "--baseline"});
  EXPECT_TRUE(has(page, "ngram baseline")) << page;
  EXPECT_EQ(names(), Words{});
}

TEST_F(ModelCommands, InspectShowsDataSetRunAndModel) {
  const std::string set = ask({"inspect", data_, "--rows", "2"});
  for (const char* part : {"train", "valid", "test", "unknown %", "negative", "positive", "["})
    EXPECT_TRUE(has(set, part)) << part << " in\n" << set;
  const std::string run_page = ask({"inspect", model_});
  for (const char* part : {"done", "learning-rate", "macro-F1", "best"})
    EXPECT_TRUE(has(run_page, part)) << part << " in\n" << run_page;
  const std::string model_page = ask({"inspect", model_ + "/model"});
  for (const char* part : {"ngram", "buckets", "1000", "model.safetensors"})
    EXPECT_TRUE(has(model_page, part)) << part << " in\n" << model_page;
}

TEST_F(ModelCommands, InspectRefusesADamagedRecord) {
  fs::create_directory("run");
  write("run/events.jsonl", "this is no event\nnor this\n");
  refuses({"inspect", "run"}, {"run/events.jsonl:1"});
  std::string events = read_file(tiny_run() + "/events.jsonl");
  write("run/events.jsonl", events.substr(0, events.find('\n') + 1) + "{\"event\": \"step\", \"t\": 1}\n");
  refuses({"inspect", "run"}, {"run/events.jsonl:2"});
  write("run/events.jsonl", "{\"event\": 1}\n");
  refuses({"inspect", "run"}, {"run/events.jsonl"});
}

// The line that a killed run was writing is cut.
TEST_F(ModelCommands, InspectShowsARunWhoseLastLineIsCut) {
  fs::create_directory("run");
  const std::string events = read_file(tiny_run() + "/events.jsonl");
  write("run/events.jsonl", events.substr(0, events.size() * 3 / 4));
  EXPECT_TRUE(has(ask({"inspect", "run"}), "not ended"));
}

TEST_F(ModelCommands, AnotherFileIsPreparedWithTheModelsWords) {
  write("own.csv", "text,label\nI love it,positive\nWhat a waste,negative\n");
  ask({"prepare", "--input", "own.csv", "--test", "own.csv", "--label", "label", "--tokenizer-from", model_,
       "--out", "own"});
  EXPECT_TRUE(has(ask({"evaluate", model_, "--data", "own"}), "2 samples"));
}

TEST_F(ModelCommands, QuickstartWorksTwiceInOneFolder) {
  const std::string page = ask({"quickstart", "--rows", "3000", "--out", "quick"});
  for (const char* part :
       {"$ paceline generate", "$ paceline prepare", "$ paceline train", "$ paceline evaluate",
        "$ paceline predict", "\nlstm ", "the best possible", "Now your own file"})
    EXPECT_TRUE(has(page, part)) << part << " in\n" << page;
  EXPECT_TRUE(has(ask({"quickstart", "--rows", "3000", "--out", "quick"}), "Now your own file"));
  EXPECT_EQ(run({"inspect", "quick/run"}).code, 0);
}

}  // namespace
}  // namespace paceline
