#include "data/prepare/mapped_record.h"

#include <cstring>

#include "base/error.h"

namespace paceline {
namespace {

struct Header {
  uint64_t key, origin, line, second;
  uint32_t label, words_length, second_begin;
  uint16_t flags_length;
  uint8_t split, truncated;
} __attribute__((packed));

}  // namespace

void append_record(std::string& out, const MappedRecord& record) {
  const Header header{record.key,          record.origin,
                      record.line,         record.second,
                      record.label,        static_cast<uint32_t>(record.words.size()),
                      record.second_begin, static_cast<uint16_t>(record.flags.size()),
                      record.split,        record.truncated ? uint8_t{1} : uint8_t{0}};
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(record.flags);
  out.append(record.words);
}

bool has_whole_record(std::string_view bytes, size_t position) {
  Header header;
  if (bytes.size() - position < sizeof header) return false;
  std::memcpy(&header, bytes.data() + position, sizeof header);
  return bytes.size() - position - sizeof header >= size_t{header.flags_length} + header.words_length;
}

MappedRecord take_record(std::string_view bytes, size_t& position) {
  if (!has_whole_record(bytes, position)) work_error("a temporary file of prepare is cut short");
  Header header;
  std::memcpy(&header, bytes.data() + position, sizeof header);
  position += sizeof header;
  const size_t length = size_t{header.flags_length} + header.words_length;
  MappedRecord record;
  record.key = header.key;
  record.origin = header.origin;
  record.line = header.line;
  record.second = header.second;
  record.label = header.label;
  record.split = header.split;
  record.second_begin = header.second_begin;
  record.truncated = header.truncated != 0;
  record.flags = bytes.substr(position, header.flags_length);
  record.words = bytes.substr(position + header.flags_length, header.words_length);
  position += length;
  return record;
}

}  // namespace paceline
