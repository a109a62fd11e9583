// The end of a zip archive and its directory, as bytes.
#pragma once
#include "base/archive/zip.h"

namespace paceline {

// A little-endian number of `count` bytes; `at` has been checked.
inline uint64_t zip_number(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct ZipDirectoryPlace {
  uint64_t begin = 0, bytes = 0, entries = 0;
};

// Where the directory is, from the record at the end of the file. Throws InputError.
ZipDirectoryPlace find_zip_directory(const RangedFile& file);

// The entry whose record begins at `at`, which moves behind it. Throws std::runtime_error with a short
// reason.
ZipEntry read_zip_record(std::string_view directory, size_t& at);

}  // namespace paceline
