// Zip archives of strangers: wheels, and what torch.save writes. Names, sizes and places are checked against
// each other and against the file before they are believed.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/ranged_file.h"

namespace paceline {

struct ZipEntry {
  static constexpr uint16_t stored = 0, deflated = 8;
  std::string name;
  uint16_t method = stored;
  uint64_t packed = 0, bytes = 0;  // in the archive, and unpacked
  uint32_t crc = 0;
  uint64_t header = 0;  // where its local header begins
};

class ZipReader {
 public:
  // Throws InputError: not a zip archive, or one whose directory is damaged, contradictory or encrypted.
  explicit ZipReader(const fs::path& path);
  std::span<const ZipEntry> entries() const { return entries_; }
  // nullptr when there is none.
  const ZipEntry* find(const std::string& name) const;
  const RangedFile& file() const { return file_; }
  // Where the entry's bytes begin in the file; `packed` of them are there.
  uint64_t data_begin(const ZipEntry& entry) const;
  // Hands out the unpacked bytes in pieces. Throws InputError when they are not what the directory says
  // (number, checksum), at the latest after the last piece.
  void unpack(const ZipEntry& entry, const std::function<void(std::string_view)>& sink) const;

 private:
  void read_entries(std::string_view directory, uint64_t directory_begin, uint64_t count);
  void check_places(uint64_t directory_begin) const;

  RangedFile file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t> numbers_;  // by name
};

}  // namespace paceline
