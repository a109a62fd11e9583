// A record after mapping: what the shuffle moves and the reduce turns into a row.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace paceline {

struct MappedRecord {
  uint64_t key = 0;           // the order of the data set: a hash
  uint64_t origin = 0;        // file number << 40 | record number in the file; breaks ties
  uint64_t line = 0;          // in its file, for rejects
  uint64_t second = 0;        // more bits of the text's hash: equal key and second are equal texts
  uint32_t label = 0;         // number in the ClassRegistry
  uint8_t split = 0;          // number in the list of splits
  bool truncated = false;     // the text was cut to the length of a row
  uint32_t second_begin = 0;  // where the second text's ids begin; 0: there is none
  std::string_view flags;     // LabelKind::multiple: one byte a class
  std::string_view words;     // separated by spaces; or, where ids are known already, those, four bytes each

  static constexpr int origin_bits = 40;
};

// Appends the record's bytes (a fixed header, then flags and words).
void append_record(std::string& out, const MappedRecord& record);
// Takes the record at position and moves position behind it. The views point into bytes.
// Throws WorkError when the bytes end early (a temporary file was damaged).
MappedRecord take_record(std::string_view bytes, size_t& position);

// Whether a whole record stands at position.
bool has_whole_record(std::string_view bytes, size_t position);

}  // namespace paceline
