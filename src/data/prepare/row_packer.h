// Texts one after another, cut into rows of equal length: what a language model is trained on.
#pragma once
#include "data/dataset/shard_writer.h"

namespace paceline {

struct PackedRows {
  uint64_t length = 0;          // ids of a row, with [CLS] and [SEP], at least 3; 0: rows are not packed
  uint32_t begin = 0, end = 0;  // [CLS], [SEP]
};

// A row is [CLS] ids [SEP], where the ids are those of texts with [SEP] between them. A text goes on in the
// next row where it does not fit. Every row is full but the last.
class RowPacker {
 public:
  // The split must outlive it.
  RowPacker(SplitWriter& split, const PackedRows& rows);
  // text: [CLS] ids [SEP].
  void add(std::span<const uint32_t> text);
  // Writes the last row.
  void finish();

 private:
  void write_row();
  SplitWriter& split_;
  PackedRows rows_;
  std::vector<uint32_t> row_;  // begun: [CLS] and what follows
};

}  // namespace paceline
