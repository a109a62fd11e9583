#include "data/batch/batches.h"

namespace paceline {

Sample sample_of(const Rows& rows, uint64_t classes, size_t row) {
  Sample sample;
  sample.ids = rows.row(row);
  if (!rows.labels.empty()) sample.label = rows.labels[row];
  if (!rows.flags.empty()) sample.flags = std::span(rows.flags).subspan(row * classes, classes);
  return sample;
}

Batches::Batches(SplitReader reader, const SplitInfo& split, uint64_t classes, uint64_t seed,
                 uint64_t batch_size, uint64_t grain_size)
    : reader_(std::move(reader)),
      order_(split.rows, batch_size, static_cast<double>(split.tokens) / static_cast<double>(split.rows)),
      classes_(classes),
      seed_(seed) {
  batch_.grain_size = grain_size;
}

Batches::~Batches() {
  if (ahead_.valid()) ahead_.wait();
}

Batches::Window Batches::window_of(uint64_t step) const {
  return {step / order_.steps(), order_.window_of(step % order_.steps())};
}

std::unique_ptr<Rows> Batches::load(Window window) {
  auto rows = std::make_unique<Rows>();
  for (const auto& run : order_.window_runs(seed_, window.first, window.second))
    reader_.read(run.first, run.count, *rows);
  return rows;
}

void Batches::move_to(Window window) {
  std::unique_ptr<Rows> loaded;
  if (ahead_.valid()) loaded = ahead_.get();
  if (!loaded || expected_ != window) loaded = load(window);
  rows_ = std::move(loaded);
  current_ = window;
  Window next = window.second + 1 < order_.windows() ? Window{window.first, window.second + 1}
                                                     : Window{window.first + 1, 0};
  expected_ = next;
  ahead_ = std::async(std::launch::async, [this, next] { return load(next); });
}

const Batch& Batches::at(uint64_t step) {
  const Window window = window_of(step);
  if (current_ != window) move_to(window);
  batch_.step = step;
  batch_.epoch = step / order_.steps();
  batch_.step_in_epoch = step % order_.steps();
  batch_.samples.clear();
  batch_.tokens = 0;
  for (uint64_t row : order_.step_rows(seed_, batch_.epoch, batch_.step_in_epoch)) {
    batch_.samples.push_back(sample_of(*rows_, classes_, row));
    batch_.tokens += batch_.samples.back().ids.size();
  }
  return batch_;
}

}  // namespace paceline
