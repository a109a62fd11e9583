#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

[[noreturn]] void fail(const fs::path& path, const char* doing) {
  int reason = errno;
  work_error("{}: {} failed: {}{}", path.string(), doing, std::strerror(reason),
             reason == ENOSPC ? "; free some space or choose another place with --out" : "");
}

void sync_fd(int fd, const fs::path& path) {
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS) fail(path, "syncing");
}

}  // namespace

FileWriter::FileWriter(fs::path path, size_t buffer_bytes) : path_(std::move(path)), capacity_(buffer_bytes) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail(path_, "creating");
  buffer_.reserve(capacity_);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      capacity_(other.capacity_),
      written_(other.written_) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void FileWriter::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > capacity_) flush();
  buffer_.append(bytes);
  if (buffer_.size() > capacity_) flush();
}

void FileWriter::flush() {
  const char* data = buffer_.data();
  size_t left = buffer_.size();
  while (left > 0) {
    ssize_t n = ::write(fd_, data, left);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "writing");
    data += n;
    left -= static_cast<size_t>(n);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void FileWriter::close(bool sync) {
  if (fd_ < 0) return;
  flush();
  if (sync) sync_fd(fd_, path_);
  if (::close(std::exchange(fd_, -1)) != 0) fail(path_, "closing");
}

void sync_directory(const fs::path& path) {
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail(path, "opening");
  const int reason = fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  errno = reason;
  if (reason != 0 && reason != EINVAL) fail(path, "syncing");
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  fs::path temporary = path;
  temporary += fmt::format(".partial-{}", getpid());
  try {
    FileWriter out(temporary);
    out.write(bytes);
    out.close(true);
    if (rename(temporary.c_str(), path.c_str()) != 0) fail(path, "renaming into place");
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

std::string read_file(const fs::path& path, uint64_t max_bytes) {
  int fd =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not wait for its writer
  if (fd < 0) input_error("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    input_error("{}: not a regular file", path.string());
  }
  if (static_cast<uint64_t>(info.st_size) > max_bytes) {
    ::close(fd);
    input_error("{}: {} bytes, at most {} are expected in such a file", path.string(), info.st_size,
                max_bytes);
  }
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    ssize_t n = read(fd, bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  ::close(fd);
  if (have != bytes.size()) work_error("{}: {} of {} bytes could be read", path.string(), have, bytes.size());
  return bytes;
}

std::string human_bytes(uint64_t bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, units[unit]);
}

StagedFolder::StagedFolder(fs::path goal, std::string_view flag) {
  while (goal.filename().empty() && goal.has_relative_path()) goal = goal.parent_path();
  if (goal.empty()) input_error("{}: an output folder is needed", flag);
  goal_ = goal;
  const fs::path parent = goal_.has_parent_path() ? goal_.parent_path() : fs::path(".");
  staging_ = parent / ("." + goal_.filename().string() + ".partial");
  do {
    std::error_code error;
    if (fs::exists(fs::symlink_status(goal_, error)))
      input_error("{} {}: exists already; name another folder or remove it", flag, goal_.string());
    if (!fs::is_directory(parent, error))
      input_error("{} {}: there is no folder {} to put it in", flag, goal_.string(), parent.string());
  } while (!lock_staging(flag));
  std::error_code error;
  for (fs::directory_iterator leftover(staging_, error), end; !error && leftover != end;
       leftover.increment(error)) {
    fs::remove_all(leftover->path(), error);
    if (error) break;
  }
  if (!error) return;
  ::close(std::exchange(lock_, -1));
  input_error("{} {}: what an earlier run left in {} cannot be removed: {}", flag, goal_.string(),
              staging_.string(), error.message());
}

// False when another process moved or removed the folder between our opening and locking it.
bool StagedFolder::lock_staging(std::string_view flag) {
  if (mkdir(staging_.c_str(), 0777) != 0 && errno != EEXIST)
    input_error("{} {}: cannot be written: {}", flag, goal_.string(), std::strerror(errno));
  lock_ = open(staging_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_ < 0 && errno == ENOENT) return false;
  if (lock_ < 0)
    input_error("{} {}: {} is in the way: {}; remove it", flag, goal_.string(), staging_.string(),
                std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const bool busy = errno == EWOULDBLOCK;
    const std::string reason = std::strerror(errno);
    ::close(std::exchange(lock_, -1));
    if (busy) input_error("{} {}: another process is writing it right now", flag, goal_.string());
    input_error("{} {}: {} cannot be locked: {}", flag, goal_.string(), staging_.string(), reason);
  }
  struct stat locked = {}, named = {};
  if (fstat(lock_, &locked) == 0 && lstat(staging_.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
      locked.st_dev == named.st_dev)
    return true;
  ::close(std::exchange(lock_, -1));
  return false;
}

StagedFolder::~StagedFolder() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove_all(staging_, ignored);
  }
  if (lock_ >= 0) ::close(lock_);
}

void StagedFolder::commit() {
  sync_directory(staging_);
  // A goal that appeared meanwhile is not replaced: rename() onto a folder that is not empty fails.
  if (rename(staging_.c_str(), goal_.c_str()) != 0) fail(goal_, "renaming into place");
  committed_ = true;
  sync_directory(goal_.has_parent_path() ? goal_.parent_path() : fs::path("."));
}

}  // namespace paceline
