#include "data/text/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace paceline {

InputFile::InputFile(const fs::path& path) : name_(path == "-" ? "standard input" : path.string()) {
  fd_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    if (errno == ENOENT) input_error("{}: there is no such file", name_);
    input_error("{}: cannot be opened: {}", name_, std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
    if (fd_ != STDIN_FILENO) ::close(fd_);
    input_error("{}: is a directory; name a file in it", name_);
  }
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  first_.resize(4);
  size_t filled = 0;
  while (filled < first_.size()) {
    const size_t got = read_descriptor(std::span(first_).subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  first_.resize(filled);
}

InputFile::~InputFile() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      first_(std::move(other.first_)),
      fd_(other.fd_),
      first_given_(other.first_given_) {
  other.fd_ = -1;
}

size_t InputFile::read(std::span<char> into) {
  const std::string_view rest = std::string_view(first_).substr(first_given_);
  if (rest.empty()) return read_descriptor(into);
  const size_t got = rest.copy(into.data(), into.size());
  first_given_ += got;
  return got;
}

size_t InputFile::read_descriptor(std::span<char> into) {
  while (true) {
    // Waiting for a pipe or a terminal goes on after a signal, so it is looked for now and then.
    pollfd waiting{fd_, POLLIN, 0};
    while (::poll(&waiting, 1, 500) <= 0) throw_if_interrupted();
    const ssize_t got = ::read(fd_, into.data(), into.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) work_error("{}: cannot be read: {}", name_, std::strerror(errno));
  }
}

}  // namespace paceline
