#include "data/text/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "data/text/input_file.h"

namespace paceline {
namespace {

constexpr size_t input_buffer_bytes = 256 << 10;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(InputFile file) : file_(std::move(file)) {}

  size_t read(std::span<char> into) override {
    const size_t got = file_.read(into);
    if (got == 0 && consumed_ == 0 && !into.empty()) input_error("{}: is empty", file_.name());
    consumed_ += got;
    return got;
  }
  uint64_t consumed() const override { return consumed_; }

 private:
  InputFile file_;
  uint64_t consumed_ = 0;
};

// What the two compressed formats share: the buffer of compressed bytes, and the complaints.
class CompressedSource : public ByteSource {
 public:
  CompressedSource(InputFile file, const char* kind) : file_(std::move(file)), kind_(kind) {
    buffer_.resize(input_buffer_bytes);
  }
  uint64_t consumed() const override { return taken_ - (end_ - begin_); }

 protected:
  // Makes sure that there are compressed bytes; false at the end of the file.
  bool refill() {
    if (begin_ < end_) return true;
    begin_ = 0;
    end_ = file_.read(buffer_);
    taken_ += end_;
    return end_ > 0;
  }
  std::span<char> compressed() { return std::span(buffer_).subspan(begin_, end_ - begin_); }
  void advance(size_t bytes) { begin_ += bytes; }
  void delivered(size_t bytes) { produced_ += bytes; }
  void check_not_empty() const {
    if (produced_ == 0) input_error("{}: is empty: the {} data unpacks to nothing", file_.name(), kind_);
  }
  [[noreturn]] void truncated() const {
    input_error(
        "{}: the {} data is truncated: it ends in the middle, after {} unpacked bytes; fetch the file again",
        file_.name(), kind_, produced_);
  }
  [[noreturn]] void corrupt(std::string_view reason) const {
    input_error("{}: the {} data is corrupt after {} unpacked bytes ({}); fetch the file again", file_.name(),
                kind_, produced_, reason);
  }

 private:
  InputFile file_;
  const char* kind_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t taken_ = 0, produced_ = 0;
};

class GzipSource final : public CompressedSource {
 public:
  explicit GzipSource(InputFile file) : CompressedSource(std::move(file), "gzip") {
    if (inflateInit2(&stream_, gzip_window_bits) != Z_OK) work_error("zlib cannot start: out of memory");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  size_t read(std::span<char> into) override {
    into = into.first(std::min<size_t>(into.size(), std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    // Hands out what is there once something is, so that records before an error are still seen.
    while (stream_.avail_out == into.size() && !into.empty()) {
      if (!refill()) {
        if (!between_members_) truncated();
        check_not_empty();
        return 0;
      }
      if (between_members_ && !begin_member()) continue;
      inflate_some();
    }
    return into.size() - stream_.avail_out;
  }

 private:
  static constexpr int gzip_window_bits = 15 + 16;

  // After a member come further ones, or zeros that fill up a tape block.
  bool begin_member() {
    if (members_ > 0 && compressed().front() == 0) {
      padding_ = true;
      advance(1);
      return false;
    }
    if (padding_) corrupt("something follows the padding at its end");
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  void inflate_some() {
    const std::span<char> input = compressed();
    stream_.next_in = reinterpret_cast<Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    const uInt room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    advance(input.size() - stream_.avail_in);
    delivered(room - stream_.avail_out);
    if (status == Z_STREAM_END) {
      between_members_ = true;
      ++members_;
    } else if (status == Z_MEM_ERROR) {
      work_error("zlib cannot go on: out of memory");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      corrupt(stream_.msg != nullptr ? stream_.msg : "bad data");
    }
  }

  z_stream stream_{};
  bool between_members_ = true, padding_ = false;
  uint64_t members_ = 0;
};

class ZstdSource final : public CompressedSource {
 public:
  explicit ZstdSource(InputFile file)
      : CompressedSource(std::move(file), "zstd"), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) work_error("zstd cannot start: out of memory");
  }

  size_t read(std::span<char> into) override {
    ZSTD_outBuffer output{into.data(), into.size(), 0};
    while (output.pos == 0 && !into.empty()) {
      if (!refill() && !more_inside_) {
        if (in_frame_) truncated();
        check_not_empty();
        return 0;
      }
      const std::span<char> data = compressed();
      ZSTD_inBuffer input{data.data(), data.size(), 0};
      const size_t status = ZSTD_decompressStream(stream_.get(), &output, &input);
      delivered(output.pos);
      advance(input.pos);
      if (ZSTD_isError(status)) corrupt(ZSTD_getErrorName(status));
      in_frame_ = status != 0;
      more_inside_ = in_frame_ && output.pos == output.size;
    }
    return output.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool in_frame_ = false;
  bool more_inside_ = false;  // unpacked bytes wait in the stream for room
};

bool is_zstd(std::string_view first) {
  const bool frame = first == std::string_view("\x28\xB5\x2F\xFD");
  const bool skippable = first.size() == 4 && (first[0] & 0xF0) == 0x50 && first.substr(1) == "\x2A\x4D\x18";
  return frame || skippable;
}

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const fs::path& path) {
  InputFile file(path);
  const std::string_view first = file.first_bytes();
  if (first.starts_with("\x1F\x8B")) return std::make_unique<GzipSource>(std::move(file));
  if (is_zstd(first)) return std::make_unique<ZstdSource>(std::move(file));
  return std::make_unique<PlainSource>(std::move(file));
}

}  // namespace paceline
