// Counts words exactly in bounded memory: what does not fit goes to disk as sorted runs, merged at the end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace paceline {

// One per thread. Equal input gives equal totals however the words were spread over counters.
class WordCounter {
 public:
  static constexpr size_t default_capacity = size_t{1} << 19;
  // Runs are written to folder/PREFIX-N.
  WordCounter(fs::path folder, std::string prefix, size_t capacity = default_capacity);
  void add(std::string_view word);
  // Writes what is left and gives up the memory; returns the runs' files.
  std::vector<fs::path> finish();

 private:
  struct Slot {
    uint64_t hash = 0, count = 0;
    uint32_t begin = 0, length = 0;
  };
  void spill();
  fs::path folder_;
  std::string prefix_, arena_;
  size_t capacity_, used_ = 0;
  std::vector<Slot> slots_;
  std::vector<fs::path> runs_;
};

struct WordTotals {
  std::vector<std::string> words;  // the most frequent first, equal counts in byte order
  uint64_t distinct = 0, total = 0;
};

// The limit most frequent words of at least minimum occurrences, from sorted runs.
WordTotals merge_word_counts(const std::vector<fs::path>& runs, size_t limit, uint64_t minimum);

}  // namespace paceline
