// Writes zip archives, right ones and wrong ones.
#pragma once
#include <zlib.h>

#include "base/archive/zip.h"

namespace paceline {

inline std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

class ZipBuilder {
 public:
  std::vector<ZipEntry> directory;  // what finish() writes; a test may change it before
  uint16_t flags = 0;               // of all entries
  bool wide = false;                // sizes and places as zip64 has them
  std::string comment;

  ZipBuilder& add(const std::string& name, const std::string& bytes, bool deflate = false) {
    ZipEntry entry;
    entry.name = name;
    entry.bytes = bytes.size();
    entry.crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    entry.header = bytes_.size();
    const std::string packed = deflate ? deflated(bytes) : bytes;
    entry.method = deflate ? ZipEntry::deflated : ZipEntry::stored;
    entry.packed = packed.size();
    // The sizes in the local header are left out, and there is an extra field, as torch.save does it.
    bytes_ += "PK\3\4" + little_endian(20, 2) + little_endian(8, 2) + little_endian(entry.method, 2) +
              std::string(16, '\0') + little_endian(name.size(), 2) + little_endian(6, 2) + name + "FB" +
              little_endian(2, 2) + "zz" + packed;
    directory.push_back(entry);
    return *this;
  }

  std::string finish() const {
    std::string records;
    for (const ZipEntry& entry : directory) records += record(entry);
    const uint64_t begin = bytes_.size();
    std::string all = bytes_ + records;
    if (wide) {
      const uint64_t end = all.size();
      all += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
             little_endian(0, 8) + little_endian(directory.size(), 8) + little_endian(directory.size(), 8) +
             little_endian(records.size(), 8) + little_endian(begin, 8);
      all += "PK\6\7" + little_endian(0, 4) + little_endian(end, 8) + little_endian(1, 4);
    }
    const uint64_t count = wide ? 0xFFFF : directory.size();
    return all + "PK\5\6" + little_endian(0, 4) + little_endian(count, 2) + little_endian(count, 2) +
           little_endian(wide ? UINT32_MAX : records.size(), 4) +
           little_endian(wide ? UINT32_MAX : begin, 4) + little_endian(comment.size(), 2) + comment;
  }

 private:
  static std::string deflated(const std::string& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::string record(const ZipEntry& entry) const {
    const auto narrow = [&](uint64_t value) { return little_endian(wide ? UINT32_MAX : value, 4); };
    std::string extra;
    if (wide)
      extra = "XY" + little_endian(1, 2) + "?" + little_endian(1, 2) + little_endian(24, 2) +
              little_endian(entry.bytes, 8) + little_endian(entry.packed, 8) + little_endian(entry.header, 8);
    return "PK\1\2" + little_endian(45, 2) + little_endian(45, 2) + little_endian(flags, 2) +
           little_endian(entry.method, 2) + little_endian(0, 4) + little_endian(entry.crc, 4) +
           narrow(entry.packed) + narrow(entry.bytes) + little_endian(entry.name.size(), 2) +
           little_endian(extra.size(), 2) + std::string(10, '\0') + narrow(entry.header) + entry.name + extra;
  }

  std::string bytes_;
};

}  // namespace paceline
