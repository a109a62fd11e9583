#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

constexpr const char* no_mount = "no mount: ";

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

// Runs the action in a process of its own with a disk of 64 kB mounted at the folder, which nobody else
// sees and which goes with the process; gives what the action says, or why there is no such disk.
std::string on_small_disk(const fs::path& folder, const std::function<std::string(const fs::path&)>& action) {
  int channel[2];
  if (pipe(channel) != 0) return no_mount + std::string("no pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    std::string answer;
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
      answer = no_mount + std::string(std::strerror(errno));
    else
      answer = action(folder);
    const ssize_t sent = write(channel[1], answer.data(), answer.size());
    _exit(sent == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  ::close(channel[1]);
  std::string answer(4096, '\0');
  const ssize_t got = read(channel[0], answer.data(), answer.size());
  ::close(channel[0]);
  waitpid(pid, nullptr, 0);
  answer.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return answer;
}

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("paceline-full-{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FullDisk, AWriterSaysThatNoSpaceIsLeft) {
  const auto answer = on_small_disk(folder_, [](const fs::path& disk) -> std::string {
    try {
      FileWriter writer(disk / "big", 4096);
      for (int i = 0; i < 100; ++i) writer.write(std::string(1000, 'x'));
      writer.close();
    } catch (const WorkError& error) {
      return error.what();
    }
    return "no error";
  });
  if (says(answer, no_mount)) GTEST_SKIP() << "a small disk cannot be mounted here: " << answer;
  EXPECT_TRUE(says(answer, "big: writing failed: No space left on device; free some space")) << answer;
}

TEST_F(FullDisk, AFileThatDoesNotFitLeavesTheOldOneAndNoPart) {
  const auto answer = on_small_disk(folder_, [](const fs::path& disk) -> std::string {
    write_file_atomically(disk / "a", "old");
    std::string message = "no error";
    try {
      write_file_atomically(disk / "a", std::string(100000, 'x'));
    } catch (const WorkError& error) {
      message = error.what();
    }
    const auto files = std::distance(fs::directory_iterator(disk), {});
    return message + fmt::format(" | {} file, {}", files, read_file(disk / "a"));
  });
  if (says(answer, no_mount)) GTEST_SKIP() << "a small disk cannot be mounted here: " << answer;
  EXPECT_TRUE(says(answer, "No space left on device")) << answer;
  EXPECT_TRUE(says(answer, "| 1 file, old")) << answer;
}

TEST_F(FullDisk, AStagedFolderThatDoesNotFitIsGoneAfterwards) {
  const auto answer = on_small_disk(folder_, [](const fs::path& disk) -> std::string {
    std::string message = "no error";
    try {
      StagedFolder staged(disk / "out", "--out");
      FileWriter writer(staged.path() / "big");
      for (int i = 0; i < 100; ++i) writer.write(std::string(1000, 'x'));
      writer.close();
      staged.commit();
    } catch (const WorkError& error) {
      message = error.what();
    }
    return message + (fs::is_empty(disk) ? " | empty" : " | something is left");
  });
  if (says(answer, no_mount)) GTEST_SKIP() << "a small disk cannot be mounted here: " << answer;
  EXPECT_TRUE(says(answer, "No space left on device")) << answer;
  EXPECT_TRUE(says(answer, "| empty")) << answer;
}

// Needs no rights: the kernel's file that is always full.
TEST(FullDevice, AWriterReportsItAtTheLatestOnClose) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  FileWriter writer("/dev/full");
  writer.write("x");
  try {
    writer.close();
    FAIL() << "the loss was not reported";
  } catch (const WorkError& error) {
    EXPECT_TRUE(says(error.what(), "/dev/full: writing failed: No space left on device")) << error.what();
  }
}

}  // namespace
}  // namespace paceline
