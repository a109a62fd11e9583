#include "cluster/exchange/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../scratch.h"
#include "base/error.h"
#include "base/files.h"
#include "base/machine/software.h"
#include "base/subprocess.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

const fs::path worker = PACELINE_EXCHANGE_WORKER;

bool has_library(const char* name) { return fs::exists(worker.parent_path().parent_path() / "lib" / name); }

// Sanitizers would report what Open MPI keeps and how its own threads synchronise.
EnvironmentEdits worker_environment() {
  EnvironmentEdits edits = without_launcher();
  edits.assign = {{"ASAN_OPTIONS", "detect_leaks=0"},
                  {"TSAN_OPTIONS", "halt_on_error=1:report_thread_leaks=0:ignore_noninstrumented_modules=1"}};
  return edits;
}

ProcessResult run_workers(unsigned number, const std::string& task) {
  return run_process({"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np",
                      std::to_string(number), worker.string(), task},
                     60s, worker_environment());
}

bool has(const ProcessResult& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

double number_after(const ProcessResult& result, const std::string& text) {
  const size_t found = result.output.find(text);
  return found == std::string::npos ? NAN : std::strtod(result.output.c_str() + found + text.size(), nullptr);
}

class MpiExchange : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpirun")) GTEST_SKIP() << "there is no mpirun here; install openmpi-bin";
    if (!has_library("libpaceline_mpi.so")) GTEST_SKIP() << "built without MPI; install libopenmpi-dev";
  }
};

class WorkersOf : public MpiExchange, public testing::WithParamInterface<unsigned> {};

TEST_P(WorkersOf, SumsMaximaAndBroadcastsOfAnySizeAreRightAndEndInAnyOrder) {
  const unsigned number = GetParam();
  const ProcessResult result = run_workers(number, "all-kinds");
  EXPECT_TRUE(result.succeeded()) << result.output;
  for (unsigned rank = 0; rank < number; ++rank)
    EXPECT_TRUE(has(result, fmt::format("worker {0} of {1}, {0} of {1} here: right", rank, number)))
        << result.output;
}

INSTANTIATE_TEST_SUITE_P(MpiExchange, WorkersOf, testing::Values(1, 2, 3, 4));

TEST_F(MpiExchange, WaitingForALateWorkerBurnsNoCore) {
  const ProcessResult result = run_workers(2, "late-worker");
  ASSERT_TRUE(result.succeeded()) << result.output;
  const double waited = number_after(result, "waited "), cpu = number_after(result, "cpu ");
  EXPECT_GT(waited, 1.5) << result.output;
  EXPECT_LT(cpu, 0.1 * waited) << result.output;
}

TEST_F(MpiExchange, OfTwoWorkersOneDoesNotWaitForAnotherThatHasNothingToAdd) {
  const ProcessResult result = run_workers(2, "idle-worker");
  ASSERT_TRUE(result.succeeded()) << result.output;
  EXPECT_LT(number_after(result, "waited "), 2) << result.output;
}

TEST_F(MpiExchange, OperationsMoveOnWhileTheCallerComputes) {
  const ProcessResult result = run_workers(2, "compute");
  EXPECT_TRUE(result.succeeded()) << result.output;
  for (const char* line : {"worker 0: done meanwhile", "worker 1: done meanwhile"})
    EXPECT_TRUE(has(result, line)) << result.output;
}

TEST_F(MpiExchange, GivingUpWakesWhoeverWaitsAndTheProcessEnds) {
  const ProcessResult result = run_workers(2, "give-up");
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 3) << result.output;
  EXPECT_TRUE(has(result, " s: worker 1 does not answer\n")) << result.output;
  EXPECT_LT(number_after(result, "after "), 0.1) << result.output;
}

TEST_F(MpiExchange, AWorkerThatDiesEndsTheJob) {
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = run_workers(2, "die");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_TRUE(result.started && !result.timed_out);
  EXPECT_NE(result.exit_code, 0) << result.output;
  EXPECT_FALSE(has(result, "this is never said")) << result.output;
}

TEST(NcclExchange, WithoutAGpuItIsRefusedInOneSentence) {
  if (!has_library("libpaceline_nccl.so")) GTEST_SKIP() << "built without NCCL; run tools/setup --tests";
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is an NVIDIA GPU here";
  const ProcessResult result = run_process({worker.string(), "nccl"}, 60s, worker_environment());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.output.starts_with("no NVIDIA GPU can be used: ")) << result.output;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
}

TEST(SingleExchange, LeavesEverythingAsItIs) {
  const std::unique_ptr<Exchange> exchange = make_single_exchange();
  std::vector<int32_t> sums = {1, -2, 3};
  std::vector<uint32_t> maxima = {4, 5};
  exchange->wait(exchange->start_sum(sums));
  exchange->wait(exchange->start_max(maxima));
  exchange->broadcast(std::as_writable_bytes(std::span(sums)));
  exchange->leave();
  EXPECT_EQ(sums, (std::vector<int32_t>{1, -2, 3}));
  EXPECT_EQ(maxima, (std::vector<uint32_t>{4, 5}));
  EXPECT_EQ(exchange->size(), 1u);
  EXPECT_EQ(exchange->local_size(), 1u);
  EXPECT_EQ(exchange->sent_bytes(), 0u);
}

class OpenExchange : public Scratch {};

TEST_F(OpenExchange, WithoutTheLibraryItSaysWhatToInstall) {
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib");
  const fs::path alone = folder / "bin" / "worker";
  fs::copy_file(worker, alone);
  ProcessResult result = run_process({alone.string(), "compute"}, 60s, worker_environment());
  EXPECT_TRUE(has(result, "built without MPI; install openmpi-bin and libopenmpi-dev and build again\n"))
      << result.output;
  write("lib/libpaceline_mpi.so", "no library");
  result = run_process({alone.string(), "compute"}, 60s, worker_environment());
  EXPECT_TRUE(has(result, "cannot be opened") && has(result, "; install openmpi-bin")) << result.output;
}

TEST_F(OpenExchange, AnUnknownKindIsNamed) {
  try {
    open_exchange("pigeons");
    FAIL() << "it was opened";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "exchange 'pigeons' is not one of mpi, nccl");
  }
}

}  // namespace
}  // namespace paceline
