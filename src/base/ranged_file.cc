#include "base/ranged_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline {

RangedFile::RangedFile(fs::path path) : path_(std::move(path)) {
  // Opening a pipe must not wait for its writer.
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) input_error("{}: cannot be opened: {}", path_.string(), std::strerror(errno));
  struct stat info = {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(std::exchange(fd_, -1));
    input_error("{}: not a regular file", path_.string());
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

RangedFile::~RangedFile() {
  if (fd_ >= 0) ::close(fd_);
}

RangedFile::RangedFile(RangedFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

RangedFile& RangedFile::operator=(RangedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

void RangedFile::read(uint64_t offset, std::span<char> into) const {
  const uint64_t wanted = into.size();
  while (!into.empty()) {
    const ssize_t n = pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) work_error("{}: reading failed: {}", path_.string(), std::strerror(errno));
    if (n == 0)
      work_error("{}: it ends at byte {}, {} of {} bytes are missing; has it changed meanwhile?",
                 path_.string(), offset, into.size(), wanted);
    offset += static_cast<uint64_t>(n);
    into = into.subspan(static_cast<size_t>(n));
  }
}

}  // namespace paceline
