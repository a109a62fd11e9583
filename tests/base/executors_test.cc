#include "base/executors.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace paceline {
namespace {

TEST(Executors, RunEveryTaskExactlyOnce) {
  for (unsigned count = 1; count <= 5; ++count) {
    Executors executors(count);
    EXPECT_EQ(executors.count(), count);
    for (uint64_t tasks : {0u, 1u, 2u, 7u, 1000u}) {
      std::vector<std::atomic<int>> runs(tasks);
      executors.run(tasks, [&](uint64_t number, unsigned executor) {
        EXPECT_LT(executor, count);
        ++runs[number];
      });
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

TEST(Executors, AnExceptionReachesTheCallerAndTheCrewStaysUsable) {
  for (unsigned count = 1; count <= 5; ++count) {
    Executors executors(count);
    for (int round = 0; round < 20; ++round) {
      std::atomic<uint64_t> started = 0;
      try {
        executors.run(100000, [&](uint64_t number, unsigned) {
          ++started;
          if (number == 50) throw std::runtime_error("task 50");
        });
        FAIL() << "the exception was lost";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "task 50");
      }
      EXPECT_GE(started, 51u);
      std::atomic<uint64_t> sum = 0;
      executors.run(100, [&](uint64_t number, unsigned) { sum += number; });
      EXPECT_EQ(sum, 4950u);
    }
  }
}

TEST(Executors, WhenAllTasksFailOneExceptionArrives) {
  Executors executors(4);
  EXPECT_THROW(executors.run(1000, [](uint64_t, unsigned) { throw std::logic_error("each"); }),
               std::logic_error);
}

TEST(Executors, ATaskSeesWhatTheCallerWroteAndTheCallerWhatTasksWrote) {
  Executors executors(3);
  std::vector<uint64_t> values(1000);
  for (uint64_t round = 0; round < 200; ++round) {
    executors.run(values.size(), [&](uint64_t number, unsigned) { values[number] += number; });
    for (uint64_t i = 0; i < values.size(); i += 111) ASSERT_EQ(values[i], i * (round + 1));
  }
}

TEST(Executors, TheCallerIsExecutorZeroAndEachNumberIsOneThread) {
  Executors executors(4);
  std::mutex mutex;
  std::map<unsigned, std::set<std::thread::id>> threads;
  for (int round = 0; round < 50; ++round)
    executors.run(100, [&](uint64_t, unsigned executor) {
      std::lock_guard lock(mutex);
      threads[executor].insert(std::this_thread::get_id());
    });
  for (const auto& [executor, ids] : threads) EXPECT_EQ(ids.size(), 1u) << executor;
  if (threads.count(0)) {
    EXPECT_EQ(*threads[0].begin(), std::this_thread::get_id());
  }
}

}  // namespace
}  // namespace paceline
