// Which rows a step takes: a function of (seed, epoch, step) and the rows' lengths, evaluated without any
// list of rows.
#pragma once
#include <cstdint>
#include <vector>

namespace paceline {

// Rows lie on disk in the order of a hash, so the data set is shuffled already. An epoch visits blocks of
// neighbouring rows in the order of a keyed bijection and shuffles inside windows of several blocks. A
// window's steps form pools of equal size (the epoch's last may be smaller): the caller sorts the rows of
// a pool by length, and each of its steps takes one batch of neighbours, in the order of a third bijection.
class EpochOrder {
 public:
  static constexpr uint64_t block_rows = 512;
  // mean_tokens bounds a window's memory, whatever the length of the rows. pool_steps: steps of a pool, at
  // most a window's.
  EpochOrder(uint64_t rows, uint64_t batch_size, double mean_tokens, uint64_t pool_steps = 1);

  uint64_t steps() const { return steps_; }  // in an epoch
  uint64_t windows() const { return windows_; }
  uint64_t window_of(uint64_t step) const { return step / steps_per_window_; }
  uint64_t window_size(uint64_t window) const;  // rows

  // Neighbours: rows on disk, or places of a window.
  struct Run {
    uint64_t first, count;
  };
  // What to read for a window, in the order in which it is put into memory.
  std::vector<Run> window_runs(uint64_t seed, uint64_t epoch, uint64_t window) const;
  // The window's rows as places in memory, shuffled.
  std::vector<uint32_t> window_order(uint64_t seed, uint64_t epoch, uint64_t window) const;
  // The parts of that order which are to be sorted, each by itself.
  std::vector<Run> pools(uint64_t window) const;
  // The part of that order, sorted or not, which the step takes.
  Run step_rows(uint64_t seed, uint64_t epoch, uint64_t step) const;

 private:
  uint64_t rows_, batch_size_, steps_, steps_per_pool_, steps_per_window_, window_rows_, windows_;
};

}  // namespace paceline
