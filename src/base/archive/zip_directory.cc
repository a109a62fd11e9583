#include "base/archive/zip_directory.h"

#include <algorithm>

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {
namespace {

constexpr uint64_t end_bytes = 22, locator_bytes = 20, wide_end_bytes = 56, longest_comment = 0xFFFF;
constexpr uint64_t record_bytes = 46;
constexpr uint64_t most_directory_bytes = 64 << 20;
// A field of a zip file that says this has its value in a field of zip64's.
constexpr uint64_t wide16 = 0xFFFF, wide32 = 0xFFFFFFFF;

std::string read_bytes(const RangedFile& file, uint64_t at, uint64_t bytes) {
  std::string text(bytes, '\0');
  file.read(at, text);
  return text;
}

// zip64's record of the end, which a locator before the plain one points to.
ZipDirectoryPlace wide_place(const RangedFile& file, uint64_t end) {
  const char* name = file.path().c_str();
  if (end < locator_bytes) input_error("{}: a zip archive without its zip64 record", name);
  const std::string locator = read_bytes(file, end - locator_bytes, locator_bytes);
  const uint64_t at = zip_number(locator, 8, 8);
  if (!locator.starts_with("PK\6\7") || at > end - locator_bytes || end - locator_bytes - at < wide_end_bytes)
    input_error("{}: a zip archive without its zip64 record", name);
  const std::string record = read_bytes(file, at, wide_end_bytes);
  if (!record.starts_with("PK\6\6")) input_error("{}: a zip archive without its zip64 record", name);
  return {zip_number(record, 48, 8), zip_number(record, 40, 8), zip_number(record, 32, 8)};
}

// Takes what the record has no room for from the extra field of zip64, in its fixed order.
void widen(std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const uint64_t id = zip_number(extra, 0, 2), bytes = zip_number(extra, 2, 2);
    if (bytes > extra.size() - 4) break;
    std::string_view values = extra.substr(4, bytes);
    extra.remove_prefix(4 + bytes);
    if (id != 1) continue;
    for (uint64_t* value : {&entry.bytes, &entry.packed, &entry.header}) {
      if (*value != wide32) continue;
      if (values.size() < 8) break;
      *value = zip_number(values, 0, 8);
      values.remove_prefix(8);
    }
    return;
  }
}

}  // namespace

ZipDirectoryPlace find_zip_directory(const RangedFile& file) {
  const std::string name = file.path().string();
  const uint64_t tail_bytes = std::min(file.size(), end_bytes + longest_comment);
  const std::string tail = read_bytes(file, file.size() - tail_bytes, tail_bytes);
  size_t at = tail.size() < end_bytes ? std::string::npos : tail.rfind("PK\5\6", tail.size() - end_bytes);
  while (at != std::string::npos && zip_number(tail, at + 20, 2) != tail.size() - at - end_bytes)
    at = at == 0 ? std::string::npos : tail.rfind("PK\5\6", at - 1);
  if (at == std::string::npos) input_error("{}: not a zip archive, or only the beginning of one", name);
  const uint64_t end = file.size() - tail_bytes + at;
  ZipDirectoryPlace place{zip_number(tail, at + 16, 4), zip_number(tail, at + 12, 4),
                          zip_number(tail, at + 10, 2)};
  if (place.begin == wide32 || place.bytes == wide32 || place.entries == wide16)
    place = wide_place(file, end);
  if (place.begin > end || place.bytes > end - place.begin)
    input_error("{}: a zip archive whose directory ({} bytes at {}) does not fit into its {} bytes", name,
                place.bytes, place.begin, file.size());
  if (place.bytes > most_directory_bytes || place.entries > place.bytes / record_bytes)
    input_error("{}: a zip archive with an impossible directory ({} entries in {} bytes)", name,
                place.entries, place.bytes);
  return place;
}

ZipEntry read_zip_record(std::string_view directory, size_t& at) {
  if (directory.size() - at < record_bytes) throw std::runtime_error("its directory ends too early");
  const std::string_view record = directory.substr(at);
  if (!record.starts_with("PK\1\2")) throw std::runtime_error("its directory is damaged");
  const uint64_t flags = zip_number(record, 8, 2), name_bytes = zip_number(record, 28, 2);
  const uint64_t extra_bytes = zip_number(record, 30, 2), comment_bytes = zip_number(record, 32, 2);
  if (record.size() - record_bytes < name_bytes + extra_bytes + comment_bytes)
    throw std::runtime_error("its directory ends too early");
  ZipEntry entry;
  entry.name = record.substr(record_bytes, name_bytes);
  entry.method = static_cast<uint16_t>(zip_number(record, 10, 2));
  entry.crc = static_cast<uint32_t>(zip_number(record, 16, 4));
  entry.packed = zip_number(record, 20, 4);
  entry.bytes = zip_number(record, 24, 4);
  entry.header = zip_number(record, 42, 4);
  widen(record.substr(record_bytes + name_bytes, extra_bytes), entry);
  if ((flags & 1) != 0)
    throw std::runtime_error(fmt::format("its entry '{}' is encrypted", shortened(entry.name)));
  at += record_bytes + name_bytes + extra_bytes + comment_bytes;
  return entry;
}

}  // namespace paceline
