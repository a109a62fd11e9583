#include "data/batch/epoch_order.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

constexpr double window_tokens = 4e6;  // 16 MB of ids, twice (one is being read ahead)
constexpr uint64_t window_max_rows = 1 << 16;
enum Purpose : uint64_t { block_order = 1, row_order = 2, batch_order = 3 };

}  // namespace

EpochOrder::EpochOrder(uint64_t rows, uint64_t batch_size, double mean_tokens, uint64_t pool_steps)
    : rows_(rows), batch_size_(batch_size) {
  PACELINE_ASSERT(rows > 0 && batch_size > 0 && batch_size <= UINT32_MAX && pool_steps > 0);
  const auto affordable = static_cast<uint64_t>(window_tokens / std::max(1.0, mean_tokens));
  const uint64_t wanted = std::clamp<uint64_t>(affordable, block_rows, window_max_rows);
  const uint64_t most_steps = std::max<uint64_t>(1, wanted / batch_size);
  steps_per_pool_ = std::min(pool_steps, most_steps);
  steps_per_window_ = most_steps - most_steps % steps_per_pool_;  // whole pools, all equally well sorted
  window_rows_ = steps_per_window_ * batch_size;
  steps_ = (rows + batch_size - 1) / batch_size;
  windows_ = (rows + window_rows_ - 1) / window_rows_;
}

uint64_t EpochOrder::window_size(uint64_t window) const {
  return std::min(window_rows_, rows_ - window * window_rows_);
}

std::vector<EpochOrder::Run> EpochOrder::window_runs(uint64_t seed, uint64_t epoch, uint64_t window) const {
  // Whole blocks are visited in the order of the bijection; the rows behind the last whole block come last.
  const uint64_t blocks = rows_ / block_rows;
  const KeyedPermutation order(stream_key({seed, epoch, block_order}), std::max<uint64_t>(1, blocks));
  std::vector<Run> runs;
  uint64_t place = window * window_rows_;
  const uint64_t end = place + window_size(window);
  while (place < end) {
    const uint64_t block = place / block_rows, inside = place % block_rows;
    const uint64_t count = std::min(block_rows - inside, end - place);
    const uint64_t source = block < blocks ? order(block) : block;
    runs.push_back({source * block_rows + inside, count});
    place += count;
  }
  return runs;
}

std::vector<uint32_t> EpochOrder::window_order(uint64_t seed, uint64_t epoch, uint64_t window) const {
  const KeyedPermutation order(stream_key({seed, epoch, window, row_order}), window_size(window));
  std::vector<uint32_t> places(window_size(window));
  for (uint64_t i = 0; i < places.size(); ++i) places[i] = static_cast<uint32_t>(order(i));
  return places;
}

std::vector<EpochOrder::Run> EpochOrder::pools(uint64_t window) const {
  const uint64_t size = window_size(window), pool_rows = steps_per_pool_ * batch_size_;
  std::vector<Run> pools;
  for (uint64_t first = 0; first < size; first += pool_rows)
    pools.push_back({first, std::min(pool_rows, size - first)});
  return pools;
}

EpochOrder::Run EpochOrder::step_rows(uint64_t seed, uint64_t epoch, uint64_t step) const {
  PACELINE_ASSERT(step < steps_);
  const uint64_t pool = step - step % steps_per_pool_;  // its first step; a window is a number of whole pools
  const uint64_t steps = std::min(steps_per_pool_, steps_ - pool);
  const KeyedPermutation order(stream_key({seed, epoch, pool, batch_order}), steps);
  const uint64_t first = (pool % steps_per_window_ + order(step - pool)) * batch_size_;
  return {first, std::min(batch_size_, window_size(window_of(step)) - first)};
}

}  // namespace paceline
