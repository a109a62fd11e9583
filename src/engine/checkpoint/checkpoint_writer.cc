#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/retention.h"
#include "engine/checkpoint/snapshot.h"
#include "engine/checkpoint/step_folder.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string not_saved(uint64_t step, const std::exception& problem) {
  return fmt::format("checkpoint {} was not saved, older ones are kept: {}", step_name(step), problem.what());
}

// The threads that compute go first, and signals are theirs; a limit on file sizes (SIGXFSZ) becomes
// an error of write().
void step_back() {
  constexpr int niceness = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// The manifest comes last: it vouches for files that are on disk. Returns the bytes of all.
uint64_t write_files(const Snapshot& snapshot, const fs::path& staging) {
  Manifest manifest{snapshot.step(), snapshot.best_for(), {}};
  uint64_t bytes = 0;
  auto put = [&](const char* name, std::string_view content) {
    write_synced(staging / name, content);
    bytes += content.size();
  };
  manifest.files.push_back(describe_file(tensors_file, snapshot.tensors()));
  put(tensors_file, snapshot.tensors());
  manifest.files.push_back(describe_file(state_file, snapshot.state()));
  put(state_file, snapshot.state());
  put(manifest_file, manifest_text(manifest));
  return bytes;
}

}  // namespace

CheckpointWriter::CheckpointWriter(fs::path folder, uint64_t keep)
    : folder_(std::move(folder)), keep_(keep), snapshot_(std::make_unique<Snapshot>()) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) input_error("{}: cannot be made: {}", folder_.string(), error.message());
  lock_ = std::make_unique<FolderLock>(folder_);
  try {
    remove_leftovers(folder_);
  } catch (const WorkError& problem) {
    throw InputError(problem.what());
  }
  thread_ = std::thread([this] { run(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    std::lock_guard guard(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::save(uint64_t step, const nlohmann::ordered_json& state,
                            const std::vector<TensorView>& tensors,
                            const std::vector<std::string>& best_for) {
  const auto start = Clock::now();
  wait();
  CheckpointReport report;
  report.step = step;
  try {
    snapshot_->copy(step, state, tensors, best_for);
  } catch (const std::exception& problem) {  // no memory, or text in the state that is no UTF-8
    report.failure = not_saved(step, problem);
  }
  {
    std::lock_guard guard(mutex_);
    copy_seconds_ = report.copy_seconds = seconds_since(start);
    busy_ = report.failure.empty();
    if (!busy_) reports_.push_back(std::move(report));
  }
  changed_.notify_all();
}

bool CheckpointWriter::busy() const {
  std::lock_guard guard(mutex_);
  return busy_;
}

void CheckpointWriter::wait() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !busy_; });
}

std::vector<CheckpointReport> CheckpointWriter::take_reports() {
  std::lock_guard guard(mutex_);
  return std::exchange(reports_, {});
}

void CheckpointWriter::run() {
  step_back();
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return busy_ || closing_; });
    if (!busy_) return;
    guard.unlock();
    CheckpointReport report = write();
    guard.lock();
    report.copy_seconds = copy_seconds_;
    reports_.push_back(std::move(report));
    busy_ = false;
    changed_.notify_all();
  }
}

CheckpointReport CheckpointWriter::write() const {
  const auto start = Clock::now();
  CheckpointReport report;
  report.step = snapshot_->step();
  try {
    report.bytes = write_files(*snapshot_, make_staging(folder_, report.step));
    put_in_place(folder_, report.step);
  } catch (const std::exception& problem) {
    report.failure = not_saved(report.step, problem);
  }
  try {
    if (report.failure.empty())
      hide_steps(folder_, superseded(complete_checkpoints(folder_), report.step, keep_));
    remove_leftovers(folder_);
  } catch (const std::exception& problem) {
    if (report.failure.empty())
      report.warning = fmt::format("checkpoint {} was saved, but {}", step_name(report.step), problem.what());
  }
  report.write_seconds = seconds_since(start);
  return report;
}

}  // namespace paceline
