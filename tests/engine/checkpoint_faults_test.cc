// Disks that are full, limits, and processes that are killed: no older checkpoint is ever lost.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "base/random.h"
#include "checkpoint_fixture.h"

namespace paceline {
namespace {

class CheckpointFaults : public CheckpointScratch {
 protected:
  // What the action says, run in a process of its own.
  static nlohmann::json in_process(const std::function<nlohmann::json()>& action) {
    int channel[2];
    if (pipe(channel) != 0) throw WorkError("no pipe");
    const pid_t pid = fork();
    if (pid == 0) {
      std::string answer;
      try {
        answer = action().dump();
      } catch (const std::exception& error) {
        answer = nlohmann::json{{"thrown", error.what()}}.dump();
      }
      _exit(::write(channel[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size()) ? 0 : 1);
    }
    ::close(channel[1]);
    std::string answer;
    char part[4096];
    for (ssize_t n; (n = read(channel[0], part, sizeof part)) > 0;)
      answer.append(part, static_cast<size_t>(n));
    ::close(channel[0]);
    waitpid(pid, nullptr, 0);
    return nlohmann::json::parse(answer);
  }
  // Mounts a disk of this size at the folder, seen by this process alone; why it cannot be done, or "".
  std::string mount_small_disk(const char* size) const {
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 &&
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0)
      return "";
    return std::strerror(errno);
  }
  bool all_readable(const Steps& steps, size_t size) const {
    return std::all_of(steps.begin(), steps.end(),
                       [&](uint64_t step) { return holds(open_checkpoint(step_folder(step)), step, size); });
  }
};

constexpr size_t large = 50'000;  // 200 kB

TEST_F(CheckpointFaults, AFullDiskIsReportedKeepsOlderOnesAndALaterSaveWorks) {
  const auto answer = in_process([&]() -> nlohmann::json {
    if (auto why = mount_small_disk("size=700k"); !why.empty()) return {{"skip", why}};
    write("filler", std::string(100'000, 'x'));
    nlohmann::json said;
    CheckpointWriter writer(folder, 2);
    said["first"] = save_now(writer, 1, {}, large) + save_now(writer, 2, {}, large);
    said["full"] = {save_now(writer, 3, {}, large), save_now(writer, 4, {}, large)};
    said["names"] = names();
    said["readable"] = all_readable({1, 2}, large);
    fs::remove(folder / "filler");
    said["again"] = save_now(writer, 5, {}, large);
    said["left"] = names();
    said["newest"] = all_readable({2, 5}, large);
    return said;
  });
  if (answer.contains("skip")) GTEST_SKIP() << "a small disk cannot be mounted here: " << answer["skip"];
  ASSERT_FALSE(answer.contains("thrown")) << answer;
  EXPECT_EQ(answer["first"], "");
  for (int i : {0, 1})
    EXPECT_EQ(answer["full"][static_cast<size_t>(i)],
              fmt::format("checkpoint step-{} was not saved, older ones are kept: {}/.step-{}.partial/"
                          "state.safetensors: writing failed: No space left on device; free some space",
                          3 + i, folder.string(), 3 + i));
  EXPECT_EQ(answer["names"], (Names{"filler", "step-1", "step-2"}));
  EXPECT_EQ(answer["readable"], true);
  EXPECT_EQ(answer["again"], "");
  EXPECT_EQ(answer["left"], (Names{"step-2", "step-5"}));
  EXPECT_EQ(answer["newest"], true);
}

TEST_F(CheckpointFaults, ADiskThatIsFullWhenAStepIsSavedAgainKeepsTheOneThatWasThere) {
  const auto answer = in_process([&]() -> nlohmann::json {
    if (auto why = mount_small_disk("size=300k"); !why.empty()) return {{"skip", why}};
    CheckpointWriter writer(folder, 1);
    save_now(writer, 1, {}, large);
    return {
        {"said", save_now(writer, 1, {}, large)}, {"names", names()}, {"whole", all_readable({1}, large)}};
  });
  if (answer.contains("skip")) GTEST_SKIP() << "a small disk cannot be mounted here: " << answer["skip"];
  EXPECT_TRUE(says(answer.at("said"), "No space left on device")) << answer;
  EXPECT_EQ(answer.at("names"), Names{"step-1"});
  EXPECT_EQ(answer.at("whole"), true);
}

TEST_F(CheckpointFaults, ALimitOnFileSizesIsReportedAndDoesNotEndTheProcess) {
  const auto answer = in_process([&]() -> nlohmann::json {
    CheckpointWriter writer(folder, 1);
    save_now(writer, 1);
    const rlimit limit = {100'000, 100'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return {{"skip", std::strerror(errno)}};
    nlohmann::json said = {{"said", save_now(writer, 2, {}, large)}, {"names", names()}};
    said["small"] = save_now(writer, 3);
    said["left"] = names();
    return said;
  });
  if (answer.contains("skip")) GTEST_SKIP() << "no limit can be set here: " << answer["skip"];
  EXPECT_TRUE(says(answer.at("said"), "state.safetensors: writing failed: File too large")) << answer;
  EXPECT_EQ(answer.at("names"), Names{"step-1"});
  EXPECT_EQ(answer.at("small"), "");
  EXPECT_EQ(answer.at("left"), Names{"step-3"});
}

TEST_F(CheckpointFaults, AFolderThatCannotBeWrittenAnyMoreIsReported) {
  const fs::path home = folder / "checkpoints";
  CheckpointWriter writer(home, 1);
  EXPECT_EQ(save_now(writer, 1), "");
  fs::rename(home, folder / "moved");
  write("checkpoints", "a file in its place");
  EXPECT_TRUE(
      says(save_now(writer, 2), "checkpoint step-2 was not saved, older ones are kept: " + home.string()));
  fs::remove(home);
  fs::rename(folder / "moved", home);
  EXPECT_EQ(save_now(writer, 3), "");
  EXPECT_EQ(listed(home), Steps{3});
}

TEST_F(CheckpointFaults, AStateThatIsNoTextIsReported) {
  CheckpointWriter writer(folder, 1);
  writer.save(1, {{"name", "\xff"}}, {}, {});
  const auto reports = writer.take_reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(says(reports[0].failure, "checkpoint step-1 was not saved")) << reports[0].failure;
  EXPECT_EQ(save_now(writer, 2), "");
}

// A run that saves without end, and tells its parent what it begins to save and what is saved.
class SavingRun : public CheckpointFaults {
 protected:
  struct Told {
    uint64_t step, is_saved;
  };
  static constexpr uint64_t keep = 2;
  static constexpr size_t size = 30'000;
  static bool is_best(uint64_t step) { return step % 7 == 0; }

  void run_until_killed(int channel) const {
    const auto tell = [&](uint64_t step, bool is_saved) {
      const Told told = {step, is_saved};
      if (::write(channel, &told, sizeof told) != sizeof told) _exit(1);
    };
    std::vector<std::string> problems;
    const auto newest = open_newest_checkpoint(folder, problems);
    CheckpointWriter writer(folder, keep);
    for (uint64_t step = newest ? newest->step : 1;; ++step) {  // the newest is saved again
      tell(step, false);
      save(writer, step, is_best(step) ? Names{"accuracy"} : Names{}, size);
      for (const auto& report : writer.take_reports()) {
        if (!report.failure.empty() || !report.warning.empty()) _exit(2);
        tell(report.step, true);
      }
    }
  }
  // Runs for so long after its first save has begun.
  void run_and_kill(std::chrono::microseconds delay) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      ::close(channel[0]);
      try {
        run_until_killed(channel[1]);
      } catch (const std::exception&) {
        _exit(3);
      }
    }
    ::close(channel[1]);
    Told told = {};
    const auto listen = [&] {
      if (read(channel[0], &told, sizeof told) != sizeof told) return false;
      (told.is_saved ? saved_ : begun_) = told.step;
      if (told.is_saved && is_best(told.step)) best_ = told.step;
      saves_ += told.is_saved;
      return true;
    };
    EXPECT_TRUE(listen());
    std::this_thread::sleep_for(delay);
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "left by itself with " << WEXITSTATUS(status);
    while (listen()) {
    }
    ::close(channel[0]);
  }
  uint64_t begun_ = 0, saved_ = 0, best_ = 0, saves_ = 0;
};

TEST_F(SavingRun, KilledAtAnyMomentItLosesNoCheckpoint) {
  constexpr int kills = 60;
  RandomStream random({20, 26});
  int in_the_middle = 0;
  for (int i = 0; i < kills; ++i) {
    run_and_kill(std::chrono::microseconds(random.below(150'000)));
    std::vector<std::string> problems;
    const auto newest = open_newest_checkpoint(folder, problems);
    EXPECT_EQ(problems, Names{});
    const uint64_t step = newest ? newest->step : 0;
    EXPECT_GE(step, saved_);
    EXPECT_LE(step, begun_);
    EXPECT_TRUE(!newest || holds(*newest, step, size)) << step;
    const Steps steps = listed();
    EXPECT_GE(steps.size(), std::min(keep, saved_));
    EXPECT_TRUE(all_readable(steps, size));
    const auto infos = list_checkpoints(folder);
    EXPECT_TRUE(best_ == 0 || std::any_of(infos.begin(), infos.end(),
                                          [&](const CheckpointInfo& info) {
                                            return info.step >= best_ && info.best_for == Names{"accuracy"};
                                          }))
        << best_;
    in_the_middle += names().size() > steps.size();
    saved_ = step;
    if (HasFailure()) break;
  }
  EXPECT_GT(saves_, 20u);
  EXPECT_GT(in_the_middle, kills / 4) << "most kills should have met a write";
  RecordProperty("saves", static_cast<int>(saves_));
  CheckpointWriter writer(folder, keep);
  EXPECT_EQ(names().size(), listed().size()) << "leftovers go with the next start";
}

}  // namespace
}  // namespace paceline
