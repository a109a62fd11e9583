// The bytes of a file, pipe or standard input as they come, with a look at the first ones.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace paceline {

class InputFile {
 public:
  // "-" is standard input. Throws InputError when it is missing, a directory or unreadable.
  explicit InputFile(const fs::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  // How messages call it.
  const std::string& name() const { return name_; }
  // The first bytes (up to 4), without consuming them.
  std::string_view first_bytes() const { return first_; }
  // 0 only at the end; throws WorkError when the disk fails.
  size_t read(std::span<char> into);

 private:
  size_t read_descriptor(std::span<char> into);
  std::string name_, first_;
  int fd_ = -1;
  size_t first_given_ = 0;
};

}  // namespace paceline
