// Reduce: buckets in the order of the key, each sorted, its words turned into ids, and written as rows.
#pragma once
#include "base/executors.h"
#include "base/progress.h"
#include "data/prepare/row_packer.h"
#include "data/prepare/shuffle.h"
#include "data/text/vocabulary.h"

namespace paceline {

struct ReduceRules {
  bool deduplicate = false;
  LabelKind labels = LabelKind::none;
  std::vector<uint32_t> class_places;  // final number of each class, by its number in the registry
  std::vector<std::string> files;      // by input number, for rejects
  bool have_ids = false;               // records hold ids, not words
  PackedRows packed = {};              // of ids: rows of equal length, without labels
};

// Rows of one bucket, ready to be written.
struct ReducedBucket {
  struct Row {
    uint64_t first_id, ids, flags;
    uint32_t label, second_begin;
    uint8_t split;
    bool truncated;
  };
  std::string bytes;  // the bucket; flags of rows point into it
  std::vector<Row> rows;
  std::vector<uint32_t> ids;
  std::string rejects;
  uint64_t duplicates = 0;
};

void reduce_bucket(const ReduceRules& rules, const Vocabulary& vocabulary, ReducedBucket& bucket);

// Returns the number of duplicates left out. splits: by SplitNumber.
uint64_t reduce_all(const ReduceRules& rules, const Vocabulary& vocabulary, ShuffleReader& shuffle,
                    uint64_t records, std::vector<SplitWriter>& splits, FileWriter& rejects,
                    Executors& executors, Progress& progress);

}  // namespace paceline
