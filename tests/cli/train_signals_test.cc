// Training that is stopped, detached, met twice, or ends on its own account.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "training.h"

namespace paceline {
namespace {

class TrainSignals : public Training {
 protected:
  static Words endless(const std::string& out, const Words& more = {}) {
    Words all = train(out, {"--epochs", "100000"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static bool is_under_way(const std::string& out) { return events(out, "evaluation").size() > 2; }
};

TEST_F(TrainSignals, AnInterruptSavesAndSaysHowToGoOn) {
  for (int number : {SIGINT, SIGTERM}) {
    fs::remove_all("run");
    Process process(with_program(endless("run")));
    ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
    process.signal(number);
    const Output output = process.wait();
    const std::string step = last("run", "end").at("step").dump();
    EXPECT_TRUE(is_one_sentence(output, 128 + number,
                                {"interrupted: saved at step " + step, "paceline train --out run --resume"}));
    EXPECT_EQ(last("run", "end").at("status"), "interrupted");
    ASSERT_FALSE(checkpoints("run").empty());
    EXPECT_EQ(checkpoints("run").back(), "step-" + step);
  }
}

TEST_F(TrainSignals, AHangUpIsIgnored) {
  Process process(with_program(endless("run")));
  ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
  process.signal(SIGHUP);
  const size_t before = events("run", "evaluation").size();
  EXPECT_TRUE(until(process, [&] { return events("run", "evaluation").size() > before + 2; }));
}

TEST_F(TrainSignals, ASecondProcessOnTheSameRunIsRefused) {
  Process process(with_program(endless("run")));
  ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
  EXPECT_TRUE(is_one_sentence(run(resume("run")), 2, {"run", "being trained by another process"}));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  EXPECT_EQ(run(resume("run", {"--steps", "1"})).code, 0);
}

TEST_F(TrainSignals, ADetachedRunGoesOnAndCanBeStopped) {
  const Output output = run(endless("run", {"--detach"}));
  ASSERT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "tail -f run/log.txt")) << output.out;
  const size_t place = output.out.find("kill ");
  ASSERT_NE(place, std::string::npos);
  const pid_t pid = std::stoi(output.out.substr(place + 5));
  for (int i = 0; i < 10000 && !is_under_way("run"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(is_under_way("run"));
  EXPECT_EQ(getsid(pid), pid) << "it did not leave the terminal";
  ASSERT_EQ(kill(pid, SIGTERM), 0);
  for (int i = 0; i < 10000 && last("run", "end").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(last("run", "end").value("status", ""), "interrupted");
  for (int i = 0; i < 5000 && kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(has(read_file("run/console.txt"), "saved at step")) << read_file("run/console.txt");
}

TEST_F(TrainSignals, ADetachedRunThatCannotBeginSaysWhy) {
  EXPECT_TRUE(
      is_one_sentence(run({"train", "--data", "nothing", "--out", "run", "--detach"}), 2, {"nothing"}));
  EXPECT_FALSE(fs::exists("run"));
}

TEST_F(TrainSignals, PatienceStopsTheRun) {
  run_well(train("run", {"--epochs", "1000", "--patience", "2", "--stop-on", "macro_f1", "mean_loss",
                         "--stop-when", "any"}));
  const Json end = last("run", "end");
  EXPECT_EQ(end.at("status"), "stopped");
  EXPECT_TRUE(has(end.at("reason").get<std::string>(), "has not improved over 2 evaluations")) << end;
  const Output again = run(resume("run"));
  EXPECT_TRUE(has(again.out, "finished already")) << again.out << again.err;
}

TEST_F(TrainSignals, ALossThatExplodesEndsTheRunWithWhatToTry) {
  const Output output =
      run({"train",    "--data", tiny_data(),   "--model", "lstm",        "--out",      "run",
           "--hidden", "8",      "--embedding", "8",       "--optimizer", "sgd",        "--learning-rate",
           "100",      "--clip", "0",           "--steps", "2000",        "--schedule", "constant"});
  EXPECT_EQ(output.code, 1) << output.out;
  EXPECT_TRUE(has(output.err, "step ") && has(output.err, "smaller --learning-rate, --clip 1")) << output.err;
  EXPECT_EQ(last("run", "end").at("status"), "failed");
}

TEST_F(TrainSignals, OptionsThatCannotWorkAreRefused) {
  refuses(train("run", {"--batch-size", "8", "--grain-size", "16"}), {"--batch-size 8", "--grain-size 16"});
  refuses(train("run", {"--optimizer", "adam"}), {"--optimizer adam", "adagrad"});
  refuses(train("run", {"--stop-on", "f1"}), {"--stop-on", "'f1'", "macro_f1", "mean_loss"});
  refuses(train("run", {"--stop-on", "exact_match"}), {"--stop-on exact_match", "labels"});
  refuses(train("run", {"--schedule", "noam"}), {"--schedule noam", "--warmup"});
  refuses(train("run", {"--clip", "1"}), {"--clip", "--model ngram"});
  const Words lstm = {"train", "--data", tiny_data(), "--out", "run", "--model", "lstm"};
  Words all = lstm;
  all.insert(all.end(), {"--ngrams", "3"});
  refuses(all, {"--ngrams", "--model lstm"});
  all = lstm;
  all.insert(all.end(), {"--optimizer", "adagrad"});
  refuses(all, {"--optimizer adagrad", "adamw"});
}

TEST_F(TrainSignals, DefaultsAreThoseOfTheModelNamed) {
  write("lstm.yaml", "model: lstm\n");
  const Words asked[] = {{"train", "--model", "lstm", "--dump-config"},
                         {"train", "--set", "model=lstm", "--dump-config"},
                         {"train", "--config", "lstm.yaml", "--dump-config"}};
  for (const auto& arguments : asked) {
    const std::string yaml = run(arguments).out;
    for (const char* line : {"\nbatch-size: 64\n", "\noptimizer: \"adam\"\n", "\nlearning-rate: 0.002\n",
                             "\nclip: 1\n", "\nepochs: 4\n", "\nhidden: 128\n"})
      EXPECT_TRUE(has(yaml, line)) << line << yaml;
    EXPECT_FALSE(has(yaml, "\nbuckets:")) << yaml;
  }
  EXPECT_TRUE(has(run({"train", "--help", "--model", "lstm"}).out, "(default: 0.002)"));
  const std::string dropped =
      run({"train", "--model", "lstm", "--dropout", "0.5", "--layer-dropout", "0.1", "--dump-config"}).out;
  EXPECT_TRUE(has(dropped, "\nlayer-dropout: 0.1\n") && has(dropped, "\noutput-dropout: 0.5\n")) << dropped;
}

}  // namespace
}  // namespace paceline
