// Workers started by a real mpirun: what they print, how they end, and that none is left behind.
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "../cli/program.h"
#include "base/machine/software.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Pids {
  pid_t worker = 0, launcher = 0;
};

class Supervisor : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    if (!find_program("mpirun")) GTEST_SKIP() << "mpirun is not installed (openmpi-bin)";
  }
  void TearDown() override {
    for (pid_t pid : seen_) EXPECT_TRUE(is_gone(pid)) << "process " << pid << " was left behind";
    Scratch::TearDown();
  }

  // When both workers are there.
  std::vector<Pids> wait_for_workers() {
    std::vector<Pids> pids(2);
    for (size_t rank = 0; rank < 2; ++rank) {
      const fs::path file = fmt::format("worker-{}", rank);
      const auto deadline = Clock::now() + 20s;
      while (!fs::exists(file) && Clock::now() < deadline) std::this_thread::sleep_for(5ms);
      std::ifstream(file) >> pids[rank].worker >> pids[rank].launcher;
      if (pids[rank].worker == 0) ADD_FAILURE() << "worker " << rank << " did not begin";
      seen_.insert(seen_.end(), {pids[rank].worker, pids[rank].launcher});
    }
    return pids;
  }

  // Ended, reaped or not, within a few seconds.
  static bool is_gone(pid_t pid) {
    const auto deadline = Clock::now() + 5s;
    do {
      std::ifstream stat(fmt::format("/proc/{}/stat", pid));
      std::string text;
      if (!std::getline(stat, text) || has(text, ") Z ")) return true;
      std::this_thread::sleep_for(5ms);
    } while (Clock::now() < deadline);
    return false;
  }

 private:
  std::vector<pid_t> seen_;
};

TEST_F(Supervisor, TheResultIsPassedOnUnchangedAndNothingElseIsPrinted) {
  const std::string result =
      "{\n\t\"a\": 1,\r\n\n \x1b[1m\xc3\xa4-----\n" + std::string(100, '-') + "\nno end";
  const Output output = run({"print", result});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.out, result);
  EXPECT_EQ(output.err, "begun\n");
}

TEST_F(Supervisor, WhatEveryWorkerSaysIsSaidOnce) {
  const Output output = run({"remark", "the same"});
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.err, "paceline: the same\n");
}

TEST_F(Supervisor, AWorkerThatFailsSpeaksForAll) {
  EXPECT_TRUE(is_one_sentence(run({"speak", "1"}), 1, {"worker 1: the disk is full"}));
  EXPECT_TRUE(is_one_sentence(run({"speak", "2"}), 2, {"worker 1: the disk is full"}));
}

TEST_F(Supervisor, AWorkerThatEndsWithoutAWordIsToldWithItsExitCode) {
  // Which one it was, mpirun says only most of the time.
  EXPECT_TRUE(is_one_sentence(run({"exit", "7"}), 1, {"worker", "ended with exit code 7", "go on"}));
}

TEST_F(Supervisor, AnInterruptReachesAllWorkersWhichSaveAndLeave) {
  for (int number : {SIGINT, SIGTERM}) {
    Process process(with_program({"wait"}));
    wait_for_workers();
    process.signal(number);
    EXPECT_TRUE(is_one_sentence(process.wait(), 128 + number, {"interrupted: worker 0 has saved"}));
    for (const char* file : {"worker-0", "worker-1"}) fs::remove(file);
  }
}

TEST_F(Supervisor, AnInterruptBeforeTheWorkersAreReadyEndsThemToo) {
  for (auto pause : {0ms, 20ms, 60ms, 120ms}) {
    Process process(with_program({"wait"}));
    std::this_thread::sleep_for(pause);
    process.signal(SIGINT);
    const Output output = process.wait();
    EXPECT_TRUE(output.code == 130 || output.code == -SIGINT) << output.code << output.err;
    EXPECT_TRUE(output.err.empty() || output.err.starts_with("paceline: interrupted")) << output.err;
    for (const char* file : {"worker-0", "worker-1"}) fs::remove(file);
  }
}

TEST_F(Supervisor, ASecondInterruptEndsEverythingNow) {
  Process process(with_program({"stubborn"}));
  wait_for_workers();
  process.signal(SIGINT);
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(process.is_running());
  const auto begin = Clock::now();
  process.signal(SIGINT);
  EXPECT_TRUE(is_one_sentence(process.wait(), 130, {"interrupted"}));
  EXPECT_LT(Clock::now() - begin, 8s);
}

TEST_F(Supervisor, AKilledWorkerIsNamedAndTheOthersStop) {
  Process process(with_program({"stubborn"}));
  const std::vector<Pids> pids = wait_for_workers();
  const auto begin = Clock::now();
  kill(pids[1].worker, SIGKILL);
  EXPECT_TRUE(is_one_sentence(
      process.wait(), 1, {"worker 1 was killed by signal 9 (Killed)", "the others were stopped", "go on"}));
  EXPECT_LT(Clock::now() - begin, 10s);
}

TEST_F(Supervisor, NothingIsLeftWhenTheProgramItselfIsKilled) {
  Process process(with_program({"stubborn"}));
  wait_for_workers();
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().code, -SIGKILL);
}

TEST_F(Supervisor, NothingIsLeftWhenMpirunIsKilled) {
  Process process(with_program({"stubborn"}));
  const std::vector<Pids> pids = wait_for_workers();
  kill(pids[0].launcher, SIGKILL);
  EXPECT_TRUE(is_one_sentence(process.wait(), 1, {"mpirun was killed by signal 9 (Killed)", "go on"}));
}

TEST_F(Supervisor, WithoutMpirunOneSentenceSaysWhatToInstall) {
  const Output output = run_script("PATH=/nonexistent exec \"$paceline\" print x");
  EXPECT_TRUE(
      is_one_sentence(output, 2, {"--workers 2 needs Open MPI", "openmpi-bin", "one worker needs nothing"}));
}

}  // namespace
}  // namespace paceline
