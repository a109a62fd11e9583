// Writes one split of a data set, row by row, as shards of bounded size.
#pragma once
#include <span>

#include "data/dataset/info.h"

namespace paceline {

// One row as stored. label: the class (LabelKind::single); labels: a 0 or 1 per class (multiple).
struct RowView {
  std::span<const uint32_t> ids;
  uint32_t label = 0;
  std::span<const uint8_t> labels;
  uint32_t second_begin = 0;  // where the second text begins, in a data set of pairs
  bool truncated = false;
};

// What all rows of a data set have in common.
struct RowFormat {
  LabelKind labels = LabelKind::none;
  size_t classes = 0;
  uint64_t fixed_length = 0;  // 0: no matrix "fixed"
  bool pairs = false;
  bool ends_stay = false;  // a row that is cut keeps its last id, and that of its first text: [SEP]
  uint32_t pad_id = 0, unknown_id = 1;
};

// A shard ends after these many tokens or rows, so where it ends depends on the rows alone.
struct ShardLimits {
  uint64_t tokens = uint64_t{1} << 23, rows = uint64_t{1} << 21;
};

class SplitWriter {
 public:
  SplitWriter(fs::path folder, std::string split, const RowFormat& format, ShardLimits limits = {});
  void add(const RowView& row);
  // Writes the last shard and returns what was written.
  SplitInfo finish();

 private:
  void write_shard();
  void write_fixed_matrix(int64_t file) const;
  fs::path folder_;
  RowFormat format_;
  ShardLimits limits_;
  SplitInfo info_;
  std::vector<uint32_t> ids_, classes_, second_begins_;
  std::vector<uint64_t> offsets_ = {0};
  std::vector<uint8_t> flags_;  // classes of every row, LabelKind::multiple
};

}  // namespace paceline
