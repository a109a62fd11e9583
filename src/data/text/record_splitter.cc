#include "data/text/record_splitter.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/fields.h"
#include "data/text/find_byte.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

uint64_t count_lines(std::string_view bytes) {
  return static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

bool is_blank(std::string_view record, RecordFormat format) {
  if (record.empty()) return true;
  if (format != RecordFormat::jsonl || record.front() == '{') return false;
  return record.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

RecordSplitter::RecordSplitter(const fs::path& path, SplitOptions options)
    : RecordSplitter(open_byte_source(path), path == "-" ? "standard input" : path.string(), options) {}

RecordSplitter::RecordSplitter(std::unique_ptr<ByteSource> source, std::string name, SplitOptions options)
    : source_(std::move(source)), name_(std::move(name)), options_(options) {
  PACELINE_ASSERT(options_.block_bytes > 0 && options_.max_record_bytes > 0);
  skip_byte_order_mark();
  if (!options_.columns.empty()) {
    header_ = options_.columns;
  } else if (has_header(options_.format)) {
    read_header();
  }
}

void RecordSplitter::skip_byte_order_mark() {
  read_up_to(carry_, 4);
  const std::string_view first = carry_;
  const bool utf32 = first == std::string_view("\0\0\xFE\xFF", 4);
  if (first.starts_with("\xFF\xFE") || first.starts_with("\xFE\xFF") || utf32) {
    input_error("{}: is UTF-16 or UTF-32; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)", name_);
  }
  if (first.starts_with("\xEF\xBB\xBF")) carry_.erase(0, 3);
}

void RecordSplitter::read_header() {
  RecordBlock block;
  if (!fill(block, 1)) input_error("{}: has no header: its first line must name the columns", name_);
  const std::string_view record = block.record(0);
  if (record.find('\0') != std::string_view::npos) {
    input_error("{}:{}: the header holds a NUL byte; is this a text file in UTF-8?", name_,
                block.entries[0].line);
  }
  std::vector<std::string_view> fields;
  split_fields(record, options_, fields);
  std::string scratch;
  for (const std::string_view field : fields) {
    scratch.clear();
    const std::string_view value = may_quote(options_) ? unquote(field, scratch) : field;
    replace_invalid_utf8(value, header_.emplace_back());
  }
  ordinal_ = 0;
}

bool RecordSplitter::next_block(RecordBlock& block) { return fill(block, SIZE_MAX); }

bool RecordSplitter::fill(RecordBlock& block, size_t max_entries) {
  block.entries.clear();
  block.bytes.swap(carry_);
  block.first_ordinal = ordinal_;
  Scan scan;
  read_up_to(block.bytes, options_.block_bytes);
  find_records(block, scan, max_entries);
  while (block.entries.empty() && !(at_end_ && scan.begin == block.bytes.size())) {
    if (scan.begin == block.bytes.size()) {  // nothing but blank lines so far
      block.bytes.clear();
      scan = Scan{};
    }
    read_up_to(block.bytes, block.bytes.size() + options_.block_bytes);
    find_records(block, scan, max_entries);
  }
  carry_.assign(block.bytes, scan.begin);
  block.bytes.resize(scan.begin);
  ordinal_ += block.entries.size();
  return !block.entries.empty();
}

void RecordSplitter::read_up_to(std::string& bytes, size_t size) {
  size_t filled = bytes.size();
  if (at_end_ || filled >= size) return;
  bytes.resize(size);
  while (filled < size) {
    const size_t got = source_->read(std::span(bytes).subspan(filled));
    if (got == 0) {
      at_end_ = true;
      break;
    }
    filled += got;
  }
  bytes.resize(filled);
}

void RecordSplitter::find_records(RecordBlock& block, Scan& scan, size_t max_entries) {
  const std::string_view bytes = block.bytes;
  while (block.entries.size() < max_entries && scan.begin < bytes.size()) {
    const size_t end = find_record_end(bytes, scan);
    if (end == bytes.size()) {
      // One byte more may be the CR of a line break whose LF has not come yet.
      if (end - scan.begin > options_.max_record_bytes + 1) over_long(bytes, scan);
      if (!at_end_) return;
      if (scan.in_quotes) unclosed_quote(bytes, scan);
    }
    add_record(block, scan, end);
    const size_t next = std::min(end + 1, bytes.size());
    line_ += scan.had_quotes ? count_lines(bytes.substr(scan.begin, next - scan.begin)) : 1;
    scan.begin = scan.position = next;
    scan.had_quotes = false;
  }
}

size_t RecordSplitter::find_record_end(std::string_view bytes, Scan& scan) const {
  if (!may_quote(options_)) {
    const size_t end = find_byte(bytes, '\n', scan.position);
    scan.position = end;
    return end;
  }
  while (!scan.in_quotes || leave_quotes(bytes, scan)) {
    scan.next_newline = find_byte(bytes, '\n', std::max(scan.next_newline, scan.position));
    const size_t quote = find_opening_quote(bytes, scan, scan.next_newline);
    if (quote >= scan.next_newline) {
      scan.position = scan.next_newline;
      return scan.position;
    }
    scan.in_quotes = scan.had_quotes = true;
    scan.quote_open = quote;
    scan.position = quote + 1;
  }
  return bytes.size();
}

bool RecordSplitter::leave_quotes(std::string_view bytes, Scan& scan) const {
  while (true) {
    const size_t quote = find_byte(bytes, '"', scan.position);
    scan.position = quote;
    // The byte behind a quote tells whether it closes the field or is one of two that stand for one.
    if (quote == bytes.size() || (quote + 1 == bytes.size() && !at_end_)) return false;
    const bool doubled = quote + 1 < bytes.size() && bytes[quote + 1] == '"';
    scan.position += doubled ? 2 : 1;
    scan.in_quotes = doubled;
    if (!doubled) return true;
  }
}

size_t RecordSplitter::find_opening_quote(std::string_view bytes, Scan& scan, size_t limit) const {
  const char between = separator(options_.format);
  size_t quote = std::max(scan.next_quote, scan.position);
  while (true) {
    quote = find_byte(bytes, '"', quote);
    if (quote >= limit || quote == scan.begin || bytes[quote - 1] == between) break;
    ++quote;  // inside a field that does not begin with one, a quote is literal
  }
  scan.next_quote = quote;
  return quote;
}

void RecordSplitter::add_record(RecordBlock& block, const Scan& scan, size_t end) {
  if (end > scan.begin && block.bytes[end - 1] == '\r') --end;
  const size_t length = end - scan.begin;
  if (length > options_.max_record_bytes) over_long(block.bytes, scan);
  if (is_blank(std::string_view(block.bytes).substr(scan.begin, length), options_.format)) return;
  block.entries.push_back({scan.begin, length, line_});
}

void RecordSplitter::unclosed_quote(std::string_view bytes, const Scan& scan) const {
  const uint64_t line = line_ + count_lines(bytes.substr(scan.begin, scan.quote_open - scan.begin));
  input_error(
      "{}:{}: the quote that opens here is never closed; double the quotes inside fields, or read the file "
      "as raw if its quotes mean nothing",
      name_, line);
}

void RecordSplitter::over_long(std::string_view bytes, const Scan& scan) const {
  if (scan.in_quotes) {
    const uint64_t line = line_ + count_lines(bytes.substr(scan.begin, scan.quote_open - scan.begin));
    input_error(
        "{}:{}: the quote that opens here makes a record longer than {}: it is probably never closed; double "
        "the quotes inside fields, or read the file as raw if its quotes mean nothing",
        name_, line, human_bytes(options_.max_record_bytes));
  }
  input_error(
      "{}:{}: the record that starts here is longer than {}; is a quote not closed, or is this not a text "
      "file?",
      name_, line_, human_bytes(options_.max_record_bytes));
}

}  // namespace paceline
