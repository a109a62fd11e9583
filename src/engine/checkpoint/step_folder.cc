#include "engine/checkpoint/step_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "engine/checkpoint/checkpoint.h"

namespace paceline {
namespace {

constexpr std::string_view prefix = "step-", staging_suffix = ".partial", removed_suffix = ".removed";

[[noreturn]] void fail(const fs::path& path, const char* doing, int reason = errno) {
  const bool full = reason == ENOSPC || reason == EDQUOT;
  const bool forbidden = reason == EACCES || reason == EPERM || reason == EROFS;
  work_error("{}: {} failed: {}{}", path.string(), doing, std::strerror(reason),
             full        ? "; free some space"
             : forbidden ? "; make the folder writable"
                         : "");
}

void delete_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "removing", error.value());
}

void rename_to(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) fail(to, "renaming into place");
}

void hide(const fs::path& folder, uint64_t step) {
  delete_tree(removed_of(folder, step));
  rename_to(folder / step_name(step), removed_of(folder, step));
}

bool is_leftover(std::string_view name) {
  if (!name.starts_with('.')) return false;
  for (std::string_view suffix : {staging_suffix, removed_suffix})
    if (name.ends_with(suffix) && step_of(name.substr(1, name.size() - 1 - suffix.size()))) return true;
  return false;
}

bool is_whole(const fs::path& checkpoint) {
  try {
    open_checkpoint(checkpoint);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// False when the file system does not know how.
bool exchange_names(const fs::path& a, const fs::path& b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EXDEV) return false;
  fail(b, "replacing");
}

}  // namespace

std::string step_name(uint64_t step) { return fmt::format("{}{}", prefix, step); }

std::optional<uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  uint64_t step = 0;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (step_name(step) != name) return {};
  return step;
}

std::vector<uint64_t> steps_in(const fs::path& folder) {
  std::vector<uint64_t> steps;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const auto step = step_of(entry->path().filename().string()); step && entry->is_directory(ignored))
      steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

fs::path staging_of(const fs::path& folder, uint64_t step) {
  return folder / fmt::format(".{}{}", step_name(step), staging_suffix);
}

fs::path removed_of(const fs::path& folder, uint64_t step) {
  return folder / fmt::format(".{}{}", step_name(step), removed_suffix);
}

fs::path make_staging(const fs::path& folder, uint64_t step) {
  fs::path staging = staging_of(folder, step);
  delete_tree(staging);
  std::error_code error;
  fs::create_directories(staging, error);
  if (error) fail(staging, "creating", error.value());
  return staging;
}

void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_leftover(entry->path().filename().string())) leftovers.push_back(entry->path());
  if (error) fail(folder, "reading", error.value());
  for (const auto& path : leftovers) delete_tree(path);
}

void write_synced(const fs::path& path, std::string_view bytes) {
  constexpr size_t largest_write = 16 << 20;
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) fail(path, "creating");
  int reason = 0;
  while (reason == 0 && !bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), std::min(bytes.size(), largest_write));
    if (n >= 0)
      bytes.remove_prefix(static_cast<size_t>(n));
    else if (errno != EINTR)
      reason = errno;
  }
  const bool written = reason == 0;
  if (written && fsync(fd) != 0) reason = errno;
  if (close(fd) != 0 && reason == 0) reason = errno;
  if (reason != 0) fail(path, written ? "syncing" : "writing", reason);
}

void put_in_place(const fs::path& folder, uint64_t step, bool exchange) {
  const fs::path staging = staging_of(folder, step), goal = folder / step_name(step);
  sync_directory(staging);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(goal, ignored))) {
    rename_to(staging, goal);
  } else if (!exchange || !exchange_names(staging, goal)) {
    if (!is_whole(goal)) {
      hide(folder, step);
      rename_to(staging, goal);
    }
  }
  sync_directory(folder);
}

void hide_steps(const fs::path& folder, const std::vector<uint64_t>& steps) {
  for (uint64_t step : steps) hide(folder, step);
  if (!steps.empty()) sync_directory(folder);
}

FolderLock::FolderLock(const fs::path& folder)
    : fd_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) input_error("{}: cannot be opened: {}", folder.string(), std::strerror(errno));
  // A file system without locks is no reason to refuse.
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(fd_);
  input_error("{}: another process writes checkpoints there right now; wait for it or end it",
              folder.string());
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace paceline
