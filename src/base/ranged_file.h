// A file that is read at any place. Its size is the one that it had when it was opened.
#pragma once
#include <span>

#include "base/files.h"

namespace paceline {

class RangedFile {
 public:
  // Throws InputError when it is missing or not a regular file.
  explicit RangedFile(fs::path path);
  ~RangedFile();
  RangedFile(RangedFile&& other) noexcept;
  RangedFile& operator=(RangedFile&& other) noexcept;
  const fs::path& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Safe for several threads. Throws WorkError when not all of the bytes can be read.
  void read(uint64_t offset, std::span<char> into) const;

 private:
  fs::path path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace paceline
