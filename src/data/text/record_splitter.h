// Cuts a file into whole records, one after another and fast; parsing them is left to other threads.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/text/byte_source.h"
#include "data/text/record_format.h"

namespace paceline {

// About a MiB of whole records as they stand in the file.
struct RecordBlock {
  struct Entry {
    size_t begin, length;  // in bytes, without the line break
    uint64_t line;         // where the record starts, from 1
  };
  std::string bytes;
  std::vector<Entry> entries;
  uint64_t first_ordinal = 0;  // of entries[0]: records before it in the file; the header and blank
                               // lines are none

  std::string_view record(size_t index) const {
    return std::string_view(bytes).substr(entries[index].begin, entries[index].length);
  }
};

// Lines end in LF or CRLF. A UTF-8 byte-order mark is skipped. Throws InputError ("FILE:LINE: ...") for
// a quote that never closes, a record longer than max_record_bytes, and a file in UTF-16.
class RecordSplitter {
 public:
  RecordSplitter(const fs::path& path, SplitOptions options);
  RecordSplitter(std::unique_ptr<ByteSource> source, std::string name, SplitOptions options);

  // csv, tsv: the names given as options, else those in the first record, unquoted; empty for the other
  // formats.
  const std::vector<std::string>& header() const { return header_; }
  // The next block with at least one record, replacing what was there; false at the end of the file.
  bool next_block(RecordBlock& block);
  uint64_t bytes_consumed() const { return source_->consumed(); }
  const std::string& file_name() const { return name_; }

 private:
  // How far the block under construction has been looked at.
  struct Scan {
    size_t begin = 0;         // of the record that is not complete yet
    size_t position = 0;      // everything before it has been looked at
    size_t next_quote = 0;    // no quote that opens a field in [position, next_quote)
    size_t next_newline = 0;  // no line break in [position, next_newline)
    size_t quote_open = 0;    // where the last quote that opened a field stands
    bool in_quotes = false;
    bool had_quotes = false;  // in this record
  };

  void skip_byte_order_mark();
  void read_header();
  bool fill(RecordBlock& block, size_t max_entries);
  // Reads until the block has this many bytes, or the file ends.
  void read_up_to(std::string& bytes, size_t size);
  // Appends every record that ends inside the bytes, up to max_entries.
  void find_records(RecordBlock& block, Scan& scan, size_t max_entries);
  // The line break that ends the record, or the size when it is not in the bytes yet.
  size_t find_record_end(std::string_view bytes, Scan& scan) const;
  // Moves on behind the quote that closes the field; false when it is not in the bytes yet.
  bool leave_quotes(std::string_view bytes, Scan& scan) const;
  // The next quote that opens a field, or a position that is not before the limit.
  size_t find_opening_quote(std::string_view bytes, Scan& scan, size_t limit) const;
  void add_record(RecordBlock& block, const Scan& scan, size_t end);
  [[noreturn]] void unclosed_quote(std::string_view bytes, const Scan& scan) const;
  [[noreturn]] void over_long(std::string_view bytes, const Scan& scan) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  SplitOptions options_;
  std::vector<std::string> header_;
  std::string carry_;  // read already, but not of a whole record or of a later block
  bool at_end_ = false;
  uint64_t line_ = 1;  // of the record that comes next
  uint64_t ordinal_ = 0;
};

}  // namespace paceline
