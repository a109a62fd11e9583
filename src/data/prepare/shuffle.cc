#include "data/prepare/shuffle.h"

#include <fstream>

#include "base/error.h"
#include "data/prepare/mapped_record.h"

namespace paceline {
namespace {

constexpr size_t bucket_count = size_t{1} << ShuffleWriter::bits;
constexpr size_t buffer_bytes = size_t{1} << 16;
constexpr int max_depth = 4;  // 32 bits of the key; equal keys can be split no further

size_t bucket_of(uint64_t key, int depth) {
  return (key >> (64 - ShuffleWriter::bits * (depth + 1))) & (bucket_count - 1);
}

// Opens a bucket's file when its first record comes.
void put(std::vector<std::unique_ptr<FileWriter>>& buckets, size_t bucket, const fs::path& folder,
         std::string_view prefix, std::string_view bytes) {
  if (!buckets[bucket])
    buckets[bucket] =
        std::make_unique<FileWriter>(folder / fmt::format("{}{:03}", prefix, bucket), buffer_bytes);
  buckets[bucket]->write(bytes);
}

}  // namespace

ShuffleWriter::ShuffleWriter(fs::path folder) : buckets_(bucket_count) {
  for (size_t i = 0; i < bucket_count; ++i)
    buckets_[i] = std::make_unique<FileWriter>(folder / fmt::format("bucket-{:03}", i), buffer_bytes);
}

void ShuffleWriter::add(std::string_view records) {
  for (size_t position = 0; position < records.size();) {
    const size_t begin = position;
    const MappedRecord record = take_record(records, position);
    buckets_[bucket_of(record.key, 0)]->write(records.substr(begin, position - begin));
  }
}

void ShuffleWriter::finish() {
  for (auto& bucket : buckets_) bucket->close();
  buckets_.clear();
}

ShuffleReader::ShuffleReader(fs::path folder, uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {
  for (size_t i = 0; i < bucket_count; ++i) buckets_.push_back({folder_ / fmt::format("bucket-{:03}", i), 1});
}

void ShuffleReader::split(const Bucket& bucket) {
  std::vector<std::unique_ptr<FileWriter>> parts(bucket_count);
  std::ifstream in(bucket.file, std::ios::binary);
  std::string bytes, chunk(size_t{1} << 20, '\0');
  const std::string prefix = bucket.file.filename().string() + "-";
  bool more = true;
  while (more) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    more = in.gcount() > 0;
    bytes.append(chunk, 0, static_cast<size_t>(in.gcount()));
    size_t position = 0, done = 0;
    // A record may be cut by the chunk's end: it waits for the next chunk.
    while (has_whole_record(bytes, position)) {
      const MappedRecord record = take_record(bytes, position);
      put(parts, bucket_of(record.key, bucket.depth), folder_, prefix,
          std::string_view(bytes).substr(done, position - done));
      done = position;
    }
    bytes.erase(0, done);
  }
  if (!bytes.empty()) work_error("{}: a temporary file of prepare is cut short", bucket.file.string());
  for (size_t i = bucket_count; i > 0; --i)
    if (parts[i - 1]) {
      parts[i - 1]->close();
      buckets_.push_front({parts[i - 1]->path(), bucket.depth + 1});
    }
}

std::optional<std::string> ShuffleReader::next() {
  while (!buckets_.empty()) {
    const Bucket bucket = buckets_.front();
    buckets_.pop_front();
    const uint64_t size = fs::file_size(bucket.file);
    std::optional<std::string> bytes;
    if (size > max_bytes_ && bucket.depth < max_depth)
      split(bucket);
    else
      bytes = read_file(bucket.file, UINT64_MAX);
    fs::remove(bucket.file);
    if (bytes && !bytes->empty()) return bytes;
  }
  return std::nullopt;
}

}  // namespace paceline
