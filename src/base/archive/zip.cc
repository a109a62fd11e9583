#include "base/archive/zip.h"

#include <zlib.h>

#include <algorithm>

#include "base/archive/zip_directory.h"
#include "base/error.h"
#include "base/shortened.h"

namespace paceline {
namespace {

constexpr uint64_t local_header_bytes = 30;
constexpr uint64_t most_deflated = 1032;  // bytes that one byte of deflate can stand for
constexpr size_t piece_bytes = 256 << 10;

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream, -15) != Z_OK) work_error("zlib cannot start: out of memory");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

}  // namespace

ZipReader::ZipReader(const fs::path& path) : file_(path) {
  const ZipDirectoryPlace place = find_zip_directory(file_);
  std::string directory(place.bytes, '\0');
  file_.read(place.begin, directory);
  try {
    read_entries(directory, place.begin, place.entries);
    check_places(place.begin);
  } catch (const std::runtime_error& problem) {
    input_error("{}: not a usable zip archive: {}", path.string(), problem.what());
  }
}

void ZipReader::read_entries(std::string_view directory, uint64_t directory_begin, uint64_t count) {
  size_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    ZipEntry entry = read_zip_record(directory, at);
    const std::string name = shortened(entry.name);
    if (entry.header > directory_begin || directory_begin - entry.header < local_header_bytes ||
        entry.packed > directory_begin - entry.header - local_header_bytes)
      throw std::runtime_error(fmt::format("'{}' ({} bytes at {}) does not fit before the directory at {}",
                                           name, entry.packed, entry.header, directory_begin));
    if (entry.method == ZipEntry::stored && entry.packed != entry.bytes)
      throw std::runtime_error(
          fmt::format("'{}' is not compressed, and yet {} bytes became {}", name, entry.bytes, entry.packed));
    if (entry.method == ZipEntry::deflated && entry.bytes / most_deflated > entry.packed)
      throw std::runtime_error(
          fmt::format("'{}' cannot unpack from {} to {} bytes", name, entry.packed, entry.bytes));
    if (!numbers_.emplace(entry.name, entries_.size()).second)
      throw std::runtime_error(fmt::format("it has '{}' twice", name));
    entries_.push_back(std::move(entry));
  }
}

// Entries that share bytes are a way to make much out of little.
void ZipReader::check_places(uint64_t directory_begin) const {
  std::vector<const ZipEntry*> sorted;
  for (const ZipEntry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header < b->header; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const uint64_t next = i + 1 < sorted.size() ? sorted[i + 1]->header : directory_begin;
    const ZipEntry& entry = *sorted[i];
    if (next - entry.header < local_header_bytes + entry.name.size() ||
        next - entry.header - local_header_bytes - entry.name.size() < entry.packed)
      throw std::runtime_error(fmt::format("'{}' ({} bytes at {}) reaches into what follows at {}",
                                           shortened(entry.name), entry.packed, entry.header, next));
  }
}

const ZipEntry* ZipReader::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &entries_[found->second];
}

uint64_t ZipReader::data_begin(const ZipEntry& entry) const {
  std::string header(local_header_bytes, '\0');
  file_.read(entry.header, header);
  // Its sizes may be left out and follow the data; those of the directory count.
  const uint64_t begin =
      entry.header + local_header_bytes + zip_number(header, 26, 2) + zip_number(header, 28, 2);
  if (!header.starts_with("PK\3\4") || begin > file_.size() || file_.size() - begin < entry.packed)
    input_error("{}: '{}' is not at byte {}, where the archive's directory says; the file is damaged",
                file_.path().string(), shortened(entry.name), entry.header);
  return begin;
}

void ZipReader::unpack(const ZipEntry& entry, const std::function<void(std::string_view)>& sink) const {
  if (entry.method != ZipEntry::stored && entry.method != ZipEntry::deflated)
    input_error("{}: '{}' is compressed by method {}; only deflate is known", file_.path().string(),
                shortened(entry.name), entry.method);
  const auto damaged = [&] {
    input_error("{}: '{}' is damaged: it does not unpack to the {} bytes of its checksum",
                file_.path().string(), shortened(entry.name), entry.bytes);
  };
  const uint64_t begin = data_begin(entry);
  std::vector<char> packed(std::min<uint64_t>(piece_bytes, entry.packed)), plain(piece_bytes);
  uint64_t taken = 0, given = 0, crc = crc32(0, nullptr, 0);
  const auto give = [&](std::string_view bytes) {
    given += bytes.size();
    if (given > entry.bytes) damaged();
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    sink(bytes);
  };
  Inflater inflater;
  z_stream& z = inflater.stream;
  int status = Z_OK;
  while (taken < entry.packed && status != Z_STREAM_END) {
    throw_if_interrupted();
    const auto piece = std::span(packed).first(std::min<uint64_t>(packed.size(), entry.packed - taken));
    file_.read(begin + taken, piece);
    taken += piece.size();
    if (entry.method == ZipEntry::stored) {
      give({piece.data(), piece.size()});
      continue;
    }
    z.next_in = reinterpret_cast<Bytef*>(piece.data());
    z.avail_in = static_cast<uInt>(piece.size());
    do {
      z.next_out = reinterpret_cast<Bytef*>(plain.data());
      z.avail_out = static_cast<uInt>(plain.size());
      status = inflate(&z, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) damaged();
      give({plain.data(), plain.size() - z.avail_out});
    } while (status != Z_STREAM_END && z.avail_out == 0);
  }
  const bool ended = entry.method == ZipEntry::stored || status == Z_STREAM_END;
  if (!ended || given != entry.bytes || crc != entry.crc) damaged();
}

}  // namespace paceline
