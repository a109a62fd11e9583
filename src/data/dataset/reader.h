// Reads ranges of rows of a split; holds no more than what was asked for.
#pragma once
#include <memory>
#include <span>

#include "data/dataset/info.h"

namespace paceline {

// Rows one after another. Appending more keeps the offsets running.
struct Rows {
  std::vector<uint32_t> ids;
  std::vector<uint64_t> offsets = {0};
  std::vector<uint32_t> labels;  // LabelKind::single
  std::vector<uint8_t> flags;    // LabelKind::multiple, classes() of each row
  std::vector<uint32_t>
      second_begins;  // of each row: where its second text begins; empty: there are no pairs

  size_t size() const { return offsets.size() - 1; }
  std::span<const uint32_t> row(size_t i) const {
    return std::span(ids).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  void clear();
  // Cuts every row to max_length ids, 0: not at all. ends_stay: each row is a sequence with [SEP] behind its
  // texts, and these stay; otherwise the first ids do.
  void shorten(uint64_t max_length, bool ends_stay);
};

// Not safe for two threads at once. Every value is checked before it is believed: offsets in order and
// in range, ids below the vocabulary's size, labels below the number of classes (InputError).
class SplitReader {
 public:
  SplitReader(const fs::path& folder, const DatasetInfo& info, std::string_view split);
  ~SplitReader();
  SplitReader(SplitReader&&) noexcept;
  uint64_t rows() const { return rows_; }
  // Appends rows [first, first + count) to into.
  void read(uint64_t first, uint64_t count, Rows& into);

 private:
  struct Shard;
  Shard& open(size_t index);
  void read_labels(Shard& shard, uint64_t row, uint64_t rows, Rows& into) const;
  void read_second_begins(Shard& shard, uint64_t row, uint64_t rows, Rows& into) const;
  fs::path folder_;
  LabelKind labels_;
  uint64_t classes_, vocabulary_;
  bool pairs_;
  uint64_t rows_ = 0;
  std::vector<ShardInfo> infos_;
  std::vector<uint64_t> first_rows_;
  std::vector<std::unique_ptr<Shard>> open_;
  std::vector<size_t> recent_;  // open shards, the most recent last; few stay open
};

}  // namespace paceline
