// Ctrl-C, kill and kill -9 while the program works, and two programs in one place.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "program.h"

namespace paceline {
namespace {

class Signals : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    // Enough for half a second of preparing, so that it is met in the middle.
    ASSERT_EQ(run({"generate", "reviews", "--rows", "150000", "--length", "3-30", "--out", "big.jsonl"}).code,
              0);
  }

  // Lets it go on until it writes, and stops it there: what a signal finds does not depend on luck.
  static bool stop_in_the_middle(Process& process) {
    for (int i = 0; i < 20000 && process.is_running(); ++i) {
      if (fs::exists(".out.partial/scratch/bucket-000")) {
        process.signal(SIGSTOP);
        return process.is_running();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    return false;
  }
  static Words prepare() { return with_program(prepare_reviews("big.jsonl", "out")); }

  void ends_with(int number, int code) {
    Process process(prepare());
    ASSERT_TRUE(stop_in_the_middle(process));
    process.signal(number);
    process.signal(SIGCONT);
    EXPECT_TRUE(is_one_sentence(process.wait(), code, {"interrupted"}));
    EXPECT_EQ(names(), (Words{"./big.jsonl", "./big.jsonl.facts.json"}));
  }
};

TEST_F(Signals, InterruptedPrepareEndsWith130AndLeavesNothing) { ends_with(SIGINT, 130); }

TEST_F(Signals, TerminatedPrepareEndsWith143AndLeavesNothing) { ends_with(SIGTERM, 143); }

TEST_F(Signals, KilledPrepareCanBeRunAgain) {
  {
    Process process(prepare());
    ASSERT_TRUE(stop_in_the_middle(process));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().code, -SIGKILL);
  }
  EXPECT_TRUE(fs::exists(".out.partial")) << "the test killed it too early";
  EXPECT_FALSE(fs::exists("out"));
  const Output again = run(prepare_reviews("big.jsonl", "out"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_FALSE(fs::exists(".out.partial"));
  EXPECT_EQ(run({"inspect", "out"}).code, 0);
}

TEST_F(Signals, OfTwoPreparesIntoOneFolderOneWins) {
  Process first(prepare());
  ASSERT_TRUE(stop_in_the_middle(first));
  EXPECT_TRUE(is_one_sentence(run(prepare_reviews("big.jsonl", "out")), 2, {"--out out", "another process"}));
  first.signal(SIGCONT);
  const Output won = first.wait();
  EXPECT_EQ(won.code, 0) << won.err;
  EXPECT_EQ(run({"inspect", "out"}).code, 0);
}

TEST_F(Signals, InterruptedGenerateLeavesNothing) {
  Process process(with_program({"generate", "reviews", "--rows", "100M", "--out", "more.jsonl"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  process.signal(SIGINT);
  EXPECT_TRUE(is_one_sentence(process.wait(), 130, {"interrupted"}));
  EXPECT_EQ(names(), (Words{"./big.jsonl", "./big.jsonl.facts.json"}));
}

// A run keeps its record, and the model of its last evaluation when there was one.
TEST_F(Signals, InterruptedTrainEndsWith130AndSaysSoInItsRecord) {
  Process process(with_program(
      {"train", "--data", tiny_data(), "--out", "run", "--epochs", "100000", "--buckets", "1000"}));
  for (int i = 0; i < 10000 && !fs::exists("run/model/config.json") && process.is_running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.signal(SIGINT);
  EXPECT_TRUE(is_one_sentence(process.wait(), 130, {"interrupted"}));
  const Output shown = run({"inspect", "run"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, ", interrupted (")) << shown.out;
  EXPECT_EQ(run({"predict", "run", "--text", "fine"}).code, 0);
}

// What waits for a person is ended by Ctrl-C, too.
TEST_F(Signals, InterruptEndsPredictThatWaitsForALine) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string pipe_path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends[0]);
  Process process(with_program({"predict", tiny_run(), "--input", pipe_path}));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  process.signal(SIGINT);
  EXPECT_TRUE(is_one_sentence(process.wait(), 130, {"interrupted"}));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Signals, ReaderThatHasEnoughEndsTheProgramQuietly) {
  const std::string& model = tiny_run();
  const Output lines =
      run_script("yes fine | \"$paceline\" predict " + model + " | head -1; echo ${PIPESTATUS[1]}");
  EXPECT_EQ(lines.code, 0);
  EXPECT_EQ(lines.err, "");
  EXPECT_TRUE(lines.out.ends_with("\n141\n")) << lines.out;
  const Output help = run_script("\"$paceline\" prepare --help | head -1");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(help.out, "usage: paceline prepare [flags]\n");
}

}  // namespace
}  // namespace paceline
