#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

class Staged : public Scratch {
 protected:
  // What the user is told when the folder cannot be staged; "" when it can.
  std::string refusal(const fs::path& goal) const {
    try {
      StagedFolder staged(goal, "--out");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  fs::path goal_ = folder / "out";
};

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

// A process that stages the goal, writes a file into it and waits to be killed.
class Writer {
 public:
  explicit Writer(const fs::path& goal) {
    int ready[2];
    if (pipe(ready) != 0) throw WorkError("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      StagedFolder staged(goal, "--out");
      write_file_atomically(staged.path() / "half", "done");
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    ::close(ready[1]);
    is_ready_ = read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~Writer() { end(); }
  bool is_ready() const { return is_ready_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
  bool is_ready_ = false;
};

TEST_F(Staged, CommittedIsTheGoalAndNothingElse) {
  {
    StagedFolder staged(goal_, "--out");
    write_file_atomically(staged.path() / "a", "x");
    EXPECT_FALSE(fs::exists(goal_));
    staged.commit();
  }
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
  EXPECT_EQ(read_file(goal_ / "a"), "x");
}

TEST_F(Staged, NotCommittedLeavesNothing) {
  {
    StagedFolder staged(goal_, "--out");
    fs::create_directories(staged.path() / "deep/er");
    write_file_atomically(staged.path() / "deep/er/a", "x");
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(Staged, GoalThatExistsIsRefusedAndUntouched) {
  fs::create_directory(goal_);
  EXPECT_EQ(refusal(goal_), "--out " + goal_.string() + ": exists already; name another folder or remove it");
  fs::remove(goal_);
  write_file_atomically(goal_, "a file");
  EXPECT_TRUE(says(refusal(goal_), "exists already"));
  fs::remove(goal_);
  fs::create_symlink("nowhere", goal_);
  EXPECT_TRUE(says(refusal(goal_), "exists already"));
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(Staged, GoalMayEndInSlashesAndItsParentMustExist) {
  EXPECT_EQ(refusal(goal_ / ""), "");
  EXPECT_EQ(refusal(goal_.string() + "//"), "");
  EXPECT_TRUE(says(refusal(folder / "no/out"), "there is no folder " + (folder / "no").string()));
  EXPECT_TRUE(says(refusal(""), "an output folder is needed"));
  EXPECT_TRUE(says(refusal("/"), "exists already"));
  EXPECT_TRUE(says(refusal("."), "exists already"));
}

TEST_F(Staged, LeftoverOfAKilledProcessIsReplaced) {
  {
    Writer killed(goal_);
    ASSERT_TRUE(killed.is_ready());
  }
  EXPECT_EQ(names(), std::vector<std::string>{".out.partial"});
  StagedFolder staged(goal_, "--out");
  EXPECT_TRUE(fs::is_empty(staged.path()));
  staged.commit();
  EXPECT_TRUE(fs::is_empty(goal_));
}

TEST_F(Staged, FolderThatAnotherProcessIsWritingIsRefusedAndUntouched) {
  Writer other(goal_);
  ASSERT_TRUE(other.is_ready());
  EXPECT_TRUE(says(refusal(goal_), "another process is writing it right now"));
  EXPECT_EQ(read_file(folder / ".out.partial/half"), "done");
  other.end();
  EXPECT_EQ(refusal(goal_), "");
}

TEST_F(Staged, LinkOrFileInPlaceOfTheStagingFolderIsRefusedAndItsTargetUntouched) {
  fs::create_directory(folder / "precious");
  write_file_atomically(folder / "precious/a", "x");
  fs::create_directory_symlink(folder / "precious", folder / ".out.partial");
  EXPECT_TRUE(says(refusal(goal_), "is in the way"));
  EXPECT_EQ(read_file(folder / "precious/a"), "x");
  fs::remove(folder / ".out.partial");
  write_file_atomically(folder / ".out.partial", "a file");
  EXPECT_TRUE(says(refusal(goal_), "is in the way"));
}

TEST_F(Staged, GoalThatAppearedMeanwhileIsNotReplaced) {
  {
    StagedFolder staged(goal_, "--out");
    write_file_atomically(staged.path() / "a", "ours");
    fs::create_directory(goal_);
    write_file_atomically(goal_ / "a", "theirs");
    EXPECT_THROW(staged.commit(), WorkError);
  }
  EXPECT_EQ(read_file(goal_ / "a"), "theirs");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

// Processes that come and go on one goal either get the folder whole or a sentence.
TEST_F(Staged, ManyProcessesOnOneGoalNeverShareIt) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int round = 0; round < 200; ++round) {
        try {
          StagedFolder staged(goal_, "--out");
          if (!fs::is_empty(staged.path())) _exit(1);
          FileWriter(staged.path() / fmt::format("of-{}", getpid())).close();
          if (std::distance(fs::directory_iterator(staged.path()), {}) != 1) _exit(2);
        } catch (const InputError&) {
        } catch (...) {
          _exit(3);
        }
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace paceline
