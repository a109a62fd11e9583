#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <cerrno>
#include <thread>

namespace paceline {
namespace {

using namespace std::chrono_literals;

ProcessResult shell(const std::string& script, std::chrono::milliseconds timeout = 10s,
                    const EnvironmentEdits& edits = {}) {
  return run_process({"/bin/sh", "-c", script}, timeout, edits);
}

TEST(Subprocess, GivesOutputOfBothStreamsAndTheExitCode) {
  ProcessResult result = shell("echo out; echo err >&2; exit 7");
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.output, "out\nerr\n");
}

TEST(Subprocess, FindsProgramsOnPathAndSucceeds) { EXPECT_TRUE(run_process({"true"}, 10s).succeeded()); }

TEST(Subprocess, NamesTheSignalThatEndedIt) {
  ProcessResult result = shell("kill -ILL $$");
  EXPECT_EQ(result.signal, SIGILL);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_FALSE(result.timed_out);
}

TEST(Subprocess, ProgramThatIsNotThereIsAValueNotACrash) {
  ProcessResult result = run_process({"/no/such/program"}, 1s);
  EXPECT_FALSE(result.started);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.output, "No such file or directory");
}

TEST(Subprocess, TimeoutKillsTheChildAndItsChildren) {
  auto begin = std::chrono::steady_clock::now();
  ProcessResult result = shell("sleep 60 & echo $!; wait", 300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  pid_t grandchild = std::stoi(result.output);
  ASSERT_GT(grandchild, 1);
  // Once killed it is a zombie until whoever adopted it looks; only a live one would still be sleeping.
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    std::string state =
        shell("sed 's/.*) //;s/ .*//' /proc/" + std::to_string(grandchild) + "/stat 2>&1").output;
    gone = state.starts_with("Z") || state.find("No such") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(gone);
}

TEST(Subprocess, ReturnsWhenTheChildEndsEvenIfAGrandchildKeepsThePipe) {
  auto begin = std::chrono::steady_clock::now();
  ProcessResult result = shell("sleep 3 & echo done", 10s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output, "done\n");
}

TEST(Subprocess, OutputIsBoundedAndTheChildStillEnds) {
  ProcessResult result = shell("head -c 5000000 /dev/zero; exit 3", 30s);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output.size(), 64u * 1024);
}

TEST(Subprocess, ChildSeesAnEditedEnvironment) {
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("SLURM_JOB_ID", "17", 1);
  setenv("PACELINE_TEST_KEPT", "kept", 1);
  EnvironmentEdits edits = without_launcher();
  edits.assign = {{"PACELINE_TEST_NEW", "new"}};
  std::string seen =
      shell("echo \"$OMPI_COMM_WORLD_RANK|$SLURM_JOB_ID|$PACELINE_TEST_KEPT|$PACELINE_TEST_NEW\"", 10s, edits)
          .output;
  EXPECT_EQ(seen, "||kept|new\n");
  EXPECT_EQ(shell("echo $SLURM_JOB_ID").output, "17\n");
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("SLURM_JOB_ID");
  unsetenv("PACELINE_TEST_KEPT");
}

TEST(Subprocess, ChildReadsNothing) { EXPECT_EQ(shell("cat; echo end").output, "end\n"); }

}  // namespace
}  // namespace paceline
