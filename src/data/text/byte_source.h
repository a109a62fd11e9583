// A stream of bytes from a file that may be compressed.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "base/files.h"

namespace paceline {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the span from its front and returns how many bytes it wrote; 0 only at the end.
  virtual size_t read(std::span<char> into) = 0;
  // Bytes of the file (as it lies on disk) consumed so far, for progress.
  virtual uint64_t consumed() const = 0;
};

// Plain, gzip (any number of members) or zstd (any number of frames), told by the first bytes and not
// by the name. "-" is standard input; pipes work too, since nothing seeks. Throws InputError when the
// file is missing, a directory or unreadable. read() throws InputError when the whole is empty, or
// compressed data is truncated or corrupt, and WorkError when the disk fails.
std::unique_ptr<ByteSource> open_byte_source(const fs::path& path);

}  // namespace paceline
