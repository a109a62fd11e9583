// Leaves the terminal: the job goes on in a process of its own.
#pragma once
#include <sys/types.h>

#include <memory>

#include "base/files.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {

// A job in the background. The process forks, so no thread may exist yet.
class Detached {
 public:
  // Returns in both processes.
  Detached();
  bool is_parent() const { return child_ > 0; }
  // Parent: waits until the job has begun, and returns true; or until it ended before that, having
  // said why, and gives its exit code.
  bool has_begun(int& code) const;
  pid_t child() const { return child_; }
  // Child: what is printed from now on goes into the file, and the parent is told that the job has begun.
  void begin(const fs::path& console);

 private:
  pid_t child_ = -1;
  int pipe_ = -1;
};

// The progress of a detached job, which has begun when its first phase does.
class DetachedProgress final : public Progress {
 public:
  DetachedProgress(Detached& job, fs::path console) : job_(job), console_(std::move(console)) {}
  void begin(std::string_view phase, uint64_t total, std::string_view unit) override;
  void update(uint64_t done, std::string_view note) override { inner_->update(done, note); }
  void end() override { inner_->end(); }
  void skip(uint64_t done) override { inner_->skip(done); }
  void say(std::string_view sentence) override { inner_->say(sentence); }

 private:
  Detached& job_;
  fs::path console_;
  std::unique_ptr<TerminalProgress> inner_;
};

}  // namespace paceline::cli
