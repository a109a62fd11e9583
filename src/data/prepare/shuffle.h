// Shuffle: records go to buckets by the first bits of their key, so that each bucket fits into memory
// and the buckets one after another are the whole in the order of the key.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace paceline {

class ShuffleWriter {
 public:
  static constexpr int bits = 8;  // buckets: 256
  explicit ShuffleWriter(fs::path folder);
  // Records as append_record writes them.
  void add(std::string_view records);
  void finish();

 private:
  std::vector<std::unique_ptr<FileWriter>> buckets_;
};

// Hands out the buckets in the order of the key, each at most max_bytes (a larger one is split further
// by the next bits); a bucket's file is gone once it was taken.
class ShuffleReader {
 public:
  ShuffleReader(fs::path folder, uint64_t max_bytes);
  // The bytes of the next bucket; nullopt at the end.
  std::optional<std::string> next();

 private:
  struct Bucket {
    fs::path file;
    int depth;
  };
  void split(const Bucket& bucket);
  fs::path folder_;
  uint64_t max_bytes_;
  std::deque<Bucket> buckets_;
};

}  // namespace paceline
