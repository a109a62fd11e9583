// Which rows a step takes: a function of (seed, epoch, step) alone, evaluated without any list of rows.
#pragma once
#include <cstdint>
#include <vector>

namespace paceline {

// Rows lie on disk in the order of a hash, so the data set is shuffled already. An epoch visits blocks of
// neighbouring rows in the order of a keyed bijection and shuffles inside windows of several blocks; a
// step's rows all come from one window.
class EpochOrder {
 public:
  static constexpr uint64_t block_rows = 512;
  // mean_tokens bounds a window's memory, whatever the length of the rows.
  EpochOrder(uint64_t rows, uint64_t batch_size, double mean_tokens);

  uint64_t steps() const { return steps_; }  // in an epoch; the last one may be smaller
  uint64_t windows() const { return windows_; }
  uint64_t window_of(uint64_t step) const { return step / steps_per_window_; }

  // A run of neighbouring rows on disk.
  struct Run {
    uint64_t first, count;
  };
  // What to read for a window, in the order in which it is put into memory.
  std::vector<Run> window_runs(uint64_t seed, uint64_t epoch, uint64_t window) const;
  // The step's rows as places in its window.
  std::vector<uint64_t> step_rows(uint64_t seed, uint64_t epoch, uint64_t step) const;

 private:
  uint64_t window_size(uint64_t window) const;
  uint64_t rows_, batch_size_, steps_, steps_per_window_, window_rows_, windows_;
};

}  // namespace paceline
