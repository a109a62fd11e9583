// What model lstm is given by its users: short, long and wrong.
#include <chrono>
#include <csignal>
#include <thread>

#include "training.h"

namespace paceline {
namespace {

class LstmInput : public Training {
 protected:
  static Words lstm(const std::string& data, const Words& more) {
    Words all = {"train",       "--data", data,       "--out", "run",     "--model", "lstm",
                 "--embedding", "8",      "--hidden", "8",     "--steps", "4"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void prepare_rows(const std::string& rows) {
    write("my.csv", "text,label\n" + rows);
    run_well({"prepare", "--input", "my.csv", "--label", "label", "--min-count", "1", "--valid-share", "0",
              "--test-share", "0", "--out", "my-data"});
  }
};

TEST_F(LstmInput, OneWordAndTwentyThousandInOneDataSet) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += i % 2 == 0 ? "good,yes\n" : "bad thing,no\n";
  std::string long_text;
  for (int i = 0; i < 20000; ++i) long_text += "word ";
  prepare_rows(rows + long_text + ",yes\n");
  run_well(lstm("my-data", {"--batch-size", "31"}));
  EXPECT_EQ(run({"predict", "run", "--text", "good"}).code, 0);
  EXPECT_EQ(run({"predict", "run", "--text", ""}).code, 0);
  EXPECT_EQ(run({"predict", "run", "--text", long_text}).code, 0);
}

TEST_F(LstmInput, AGrainThatDoesNotFitIntoMemoryNamesAValueThatDoes) {
  const Output output = run(lstm(tiny_data(), {"--batch-size", "1000000", "--grain-size", "65536",
                                               "--grain-tokens", "100000000", "--hidden", "64"}));
  EXPECT_TRUE(is_one_sentence(output, 2, {"--grain-", "memory", "fits"}));
  EXPECT_FALSE(fs::exists("run"));
}

TEST_F(LstmInput, WordVectorsOfAnotherWidthNameFileAndLine) {
  write("vectors.txt", "the 1 2 3\n");
  refuses(lstm(tiny_data(), {"--word-vectors", "vectors.txt"}),
          {"vectors.txt:1", "3 numbers", "--embedding is 8"});
  refuses(lstm(tiny_data(), {"--word-vectors", "nowhere.txt"}), {"nowhere.txt"});
}

TEST_F(LstmInput, WordVectorsArePartOfTheBits) {
  write("vectors.txt", "the 1 2 3 4 5 6 7 8\nand 8 7 6 5 4 3 2 1\n");
  run_well(lstm(tiny_data(), {"--word-vectors", "vectors.txt"}));
  const std::string with = weights("run");
  EXPECT_FALSE(last("run", "data").at("word_vectors").get<std::string>().empty());
  fs::rename("run", "with");
  run_well(lstm(tiny_data(), {}));
  EXPECT_FALSE(with == weights("run"));
}

TEST_F(LstmInput, AWrongNumberOfClassWeightsIsNamed) {
  prepare_rows("good,yes\nbad,no\nfine,yes\n");
  refuses(lstm("my-data", {"--class-weights", "1,2,3"}), {"--class-weights", "3", "2"});
}

TEST_F(LstmInput, AModelWhoseNumbersDoNotFitItsWeightsIsRefused) {
  run_well(lstm(tiny_data(), {}));
  const std::string config = read_file("run/model/config.json");
  for (const char* change : {"\"hidden\": 9", "\"hidden\": 8192", "\"hidden\": 0", "\"hidden\": -1"}) {
    std::string changed = config;
    changed.replace(changed.find("\"hidden\": 8"), 11, change);
    write("run/model/config.json", changed);
    EXPECT_TRUE(is_one_sentence(run({"predict", "run", "--text", "fine"}), 2, {"model"})) << change;
  }
  std::string changed = config;
  changed.replace(changed.find("\"max\""), 5, "\"sum\"");
  write("run/model/config.json", changed);
  EXPECT_TRUE(
      is_one_sentence(run({"predict", "run", "--text", "fine"}), 2, {"config.json", "pooling", "sum"}));
}

TEST_F(LstmInput, ACheckpointOfAnotherRunIsNotTaken) {
  run_well(lstm(tiny_data(), {"--save-every", "2"}));
  fs::rename("run", "other");
  run_well(lstm(tiny_data(), {"--save-every", "2", "--seed", "9"}));
  for (const auto& name : checkpoints("run")) fs::remove_all("run/checkpoints/" + name);
  fs::copy("other/checkpoints", "run/checkpoints", fs::copy_options::recursive);
  EXPECT_TRUE(is_one_sentence(run(resume("run", {"--steps", "6"})), 2, {"another run", "seed"}));
}

TEST_F(LstmInput, ASecondInterruptLeavesAtOnce) {
  // One step takes long; the grain that is tried before the first step does not.
  Process process(with_program(lstm(tiny_data(), {"--hidden", "512", "--layers", "4", "--batch-size", "2000",
                                                  "--grain-size", "10", "--steps", "1000"})));
  ASSERT_TRUE(until(process, [] { return fs::exists("run/log.txt"); }));
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // or the two would count as one
  process.signal(SIGINT);
  const Output output = process.wait();
  EXPECT_TRUE(output.code == 130 || output.code == -SIGINT) << output.code << output.err;
}

}  // namespace
}  // namespace paceline
