#include "data/batch/batches.h"

#include <algorithm>

namespace paceline {

Batches::Batches(SplitReader reader, const SplitInfo& split, uint64_t classes, const BatchOptions& options)
    : options_(options),
      reader_(std::move(reader)),
      order_(split.rows, options.batch_size,
             static_cast<double>(split.tokens) / static_cast<double>(split.rows), options.bucket_batches),
      classes_(classes) {}

Batches::~Batches() {
  if (ahead_.valid()) ahead_.wait();
}

std::unique_ptr<Batches::Loaded> Batches::load(Window window) {
  auto loaded = std::make_unique<Loaded>();
  for (const auto& run : order_.window_runs(options_.seed, window.first, window.second))
    reader_.read(run.first, run.count, loaded->rows);
  loaded->rows.shorten(options_.max_length, options_.ends_stay);
  loaded->order = order_.window_order(options_.seed, window.first, window.second);
  if (options_.bucket_batches > 1)
    for (const auto& pool : order_.pools(window.second))
      sort_by_length(loaded->rows, std::span(loaded->order).subspan(pool.first, pool.count));
  return loaded;
}

void Batches::sort_by_length(const Rows& rows, std::span<uint32_t> places) const {
  // Length, then place in the shuffle, in one number; neither has more than 32 bits.
  std::vector<uint64_t> keys(places.size());
  for (uint64_t i = 0; i < keys.size(); ++i)
    keys[i] = sample_of(rows, classes_, places[i]).ids.size() << 32 | i;
  std::ranges::sort(keys);
  const std::vector<uint32_t> shuffled(places.begin(), places.end());
  for (uint64_t i = 0; i < keys.size(); ++i) places[i] = shuffled[keys[i] & UINT32_MAX];
}

void Batches::move_to(Window window) {
  // What is no longer needed goes first, so that there are never more than two windows at a time.
  current_.reset();
  loaded_.reset();
  if (ahead_.valid()) loaded_ = ahead_.get();
  if (!loaded_ || expected_ != window) {
    loaded_.reset();
    loaded_ = load(window);
  }
  current_ = window;
  const Window next = window.second + 1 < order_.windows() ? Window{window.first, window.second + 1}
                                                           : Window{window.first + 1, 0};
  expected_ = next;
  ahead_ = std::async(std::launch::async, [this, next] { return load(next); });
}

const Batch& Batches::at(uint64_t step) {
  batch_.step = step;
  batch_.epoch = step / order_.steps();
  batch_.step_in_epoch = step % order_.steps();
  const Window window = {batch_.epoch, order_.window_of(batch_.step_in_epoch)};
  if (current_ != window) move_to(window);

  const auto taken = order_.step_rows(options_.seed, batch_.epoch, batch_.step_in_epoch);
  const auto first = loaded_->order.begin() + static_cast<ptrdiff_t>(taken.first);
  std::vector<uint32_t> places(first, first + static_cast<ptrdiff_t>(taken.count));
  std::ranges::sort(places);  // samples of equal length follow each other as their rows do in the window
  batch_.samples.clear();
  for (uint32_t place : places) batch_.samples.push_back(sample_of(loaded_->rows, classes_, place));
  cut_into_grains(batch_, options_.grain_size, options_.grain_tokens);
  return batch_;
}

}  // namespace paceline
