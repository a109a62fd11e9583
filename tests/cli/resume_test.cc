// A run that was killed, stopped or finished goes on where it was, in the same bits.
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "training.h"

namespace paceline {
namespace {

class Resume : public Training {
 protected:
  // Kills the run at a moment of its own, again and again, and resumes it until it is done.
  void survives_kills(const Words& options, int kills) {
    run_well(train("whole", options));
    const auto begin = std::chrono::steady_clock::now();
    run_well(train("timed", options));
    const auto whole =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    int killed = 0;
    for (int i = 0; i < kills; ++i) {
      fs::remove_all("cut");
      Words next = train("cut", options);
      // Moments spread over the whole run, each at another place.
      for (int part = 1 + i % 3; part <= 3; ++part) {
        Process process(with_program(next));
        std::this_thread::sleep_for(whole * (2 * i + part) / (2 * kills + 3));
        process.signal(SIGKILL);
        if (process.wait().code == -SIGKILL) ++killed;
        if (fs::exists("cut")) next = resume("cut");
      }
      run_well(next);
      ASSERT_TRUE(weights("cut") == weights("whole")) << "kill " << i;
    }
    EXPECT_GT(killed, 0) << "no kill met the run";
  }

  void flip_a_byte(const fs::path& file) {
    std::string bytes = read_file(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
    write(file, bytes);
  }
};

TEST_F(Resume, ARunKilledAtAnyMomentEndsInTheSameBits) {
  survives_kills({"--epochs", "15", "--save-every", "9"}, 4);
}

TEST_F(Resume, AnLstmKilledAtAnyMomentEndsInTheSameBits) {
  run_well({"train",          "--data", tiny_data(),   "--model", "lstm",         "--out", "whole",
            "--hidden",       "16",     "--embedding", "16",      "--epochs",     "2",     "--bidirectional",
            "--word-dropout", "0.1",    "--ema",       "0.9",     "--save-every", "5"});
  const Words options = {"train", "--config", "whole/config.yaml", "--out", "cut"};
  Words next = options;
  for (int i = 0; i < 6; ++i) {
    Process process(with_program(next));
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 90 * i));
    process.signal(SIGKILL);
    process.wait();
    if (fs::exists("cut")) next = resume("cut");
  }
  run_well(next);
  EXPECT_TRUE(weights("cut") == weights("whole"));
}

TEST_F(Resume, ATerminatedRunEndsInTheSameBits) {
  const Words options = {"--epochs", "60"};
  run_well(train("whole", options));
  Process process(with_program(train("cut", options)));
  ASSERT_TRUE(until(process, [] { return events("cut", "step").size() > 50; }));
  process.signal(SIGTERM);
  ASSERT_EQ(process.wait().code, 143);
  const uint64_t stopped = last("cut", "end").at("step");
  run_well(resume("cut"));
  EXPECT_TRUE(weights("cut") == weights("whole"));
  const auto runs = events("cut", "run");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].at("resumed_from"), stopped) << "steps were lost";
  EXPECT_EQ(last("cut", "end").at("status"), "done");
}

TEST_F(Resume, AFinishedRunIsExtended) {
  run_well(train("run", {"--epochs", "2"}));
  const uint64_t before = last("run", "end").at("step");
  const Output again = run(resume("run"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(has(again.out, "finished already")) << again.out;
  EXPECT_EQ(events("run", "run").size(), 1u);

  const Output extended = run(resume("run", {"--epochs", "4"}));
  EXPECT_EQ(extended.code, 0) << extended.err;
  EXPECT_TRUE(has(extended.err, "the schedule now ends at step")) << extended.err;
  EXPECT_TRUE(has(read_file("run/log.txt"), "the learning rate goes on at 0.1"));
  EXPECT_EQ(last("run", "end").at("step"), 2 * before);
  EXPECT_EQ(events("run", "step").size(), 2 * before);
  EXPECT_TRUE(has(read_file("run/config.yaml"), "\nepochs: 4\n"));
  run_well(resume("run", {"--steps", std::to_string(2 * before + 5)}));
  EXPECT_EQ(last("run", "end").at("step"), 2 * before + 5);
}

TEST_F(Resume, KeysThatWouldChangeTheResultAreNamedWithBothValues) {
  run_well(train("run", {"--epochs", "2"}));
  refuses(resume("run", {"--learning-rate", "0.3"}), {"--resume", "learning-rate (0.2 before, 0.3 now)"});
  refuses(resume("run", {"--seed", "9", "--dim", "4"}), {"seed (1 before, 9 now)", "dim (10 before, 4 now)"});
  refuses(resume("run", {"--evaluate-every", "3"}), {"evaluate-every (0 before, 3 now)"});
  refuses(resume("run", {"--model", "lstm"}), {"ngram", "lstm"});
  run_well(resume("run", {"--keep", "1", "--save-every", "7", "--patience", "9", "--executors", "1"}));
}

TEST_F(Resume, WhatIsNoRunIsRefused) {
  refuses(resume("nowhere"), {"nowhere", "there is no run"});
  fs::create_directory("folder");
  refuses(resume("folder"), {"folder", "config.yaml"});
  refuses({"train", "--resume"}, {"--data is missing"});
}

TEST_F(Resume, AReplacedDataSetIsRefused) {
  fs::copy(tiny_data(), "data");
  run_well({"train", "--data", "data", "--out", "run", "--buckets", "1000", "--epochs", "2"});
  fs::remove_all("data");
  run_well({"generate", "reviews", "--rows", "500", "--seed", "8", "--out", "other.jsonl"});
  run_well(prepare_reviews("other.jsonl", "data"));
  refuses(resume("run", {"--epochs", "3"}), {"data: not the data set", "fingerprint", "step-"});
}

TEST_F(Resume, OfABrokenCheckpointTheOneBeforeIsUsed) {
  run_well(train("run", {"--epochs", "4", "--keep", "9"}));
  const std::string whole = weights("run");
  const Words before = checkpoints("run");
  ASSERT_GE(before.size(), 3u);
  fs::path largest;
  for (const auto& entry : fs::recursive_directory_iterator("run/checkpoints/" + before.back()))
    if (entry.is_regular_file() && (largest.empty() || entry.file_size() > fs::file_size(largest)))
      largest = entry.path();
  flip_a_byte(largest);
  const Output output = run(resume("run"));
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.err, before.back()) && has(output.err, "the checkpoint before it is used"))
      << output.err;
  EXPECT_TRUE(has(read_file("run/log.txt"), "the checkpoint before it is used"));
  EXPECT_EQ("step-" + last("run", "run").at("resumed_from").dump(), before[before.size() - 2]);
  EXPECT_TRUE(weights("run") == whole);
}

TEST_F(Resume, WithoutACheckpointTheRunBeginsAgain) {
  run_well(train("run", {"--epochs", "2"}));
  const std::string whole = weights("run");
  fs::remove_all("run/checkpoints");
  fs::remove_all("run/model");
  run_well(resume("run"));
  EXPECT_EQ(last("run", "run").at("resumed_from"), 0);
  EXPECT_TRUE(weights("run") == whole);
}

TEST_F(Resume, ARecordThatWasCutShortGoesOn) {
  run_well(train("run", {"--epochs", "2"}));
  std::ofstream("run/events.jsonl", std::ios::app) << "{\"event\":\"st";
  run_well(resume("run", {"--epochs", "3"}));
  const Output shown = run({"inspect", "run"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, ", done (")) << shown.out;
}

TEST_F(Resume, AModelThatIsNotTheBestOneIsPutBack) {
  run_well(train("run", {"--epochs", "3", "--keep", "9"}));
  const std::string best = weights("run");
  run_well(train("other", {"--epochs", "1", "--seed", "5"}));
  fs::remove_all("run/model");
  fs::copy("other/model", "run/model");
  run_well(resume("run"));
  EXPECT_TRUE(weights("run") == best);
}

TEST_F(Resume, MaxTimeStopsAtAStepThatStepsReproduce) {
  run_well(train("timed", {"--epochs", "100000", "--max-time", "0.005"}));
  const Json end = last("timed", "end");
  EXPECT_EQ(end.at("status"), "stopped");
  const std::string step = end.at("step").dump();
  EXPECT_TRUE(has(end.at("reason").get<std::string>(), "--max-time")) << end;
  const std::string steps = last("timed", "config").at("config").at("steps").dump();
  run_well(train("counted", {"--steps", step, "--schedule-steps", steps}));
  EXPECT_TRUE(weights("timed") == weights("counted")) << step;
}

TEST_F(Resume, ARunStoppedByMaxTimeAndResumedEqualsAnUninterruptedOne) {
  const Words options = {"--epochs", "40"};
  run_well(train("whole", options));
  run_well(train("cut", {"--epochs", "40", "--max-time", "0.001"}));
  ASSERT_EQ(last("cut", "end").at("status"), "stopped") << "it was too fast for the test";
  run_well(resume("cut", {"--max-time", "0"}));
  EXPECT_TRUE(weights("cut") == weights("whole"));
}

}  // namespace
}  // namespace paceline
