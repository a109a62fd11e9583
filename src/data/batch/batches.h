// The batches of a training run, one step after another, cut into grains; read ahead in the background.
#pragma once
#include <future>
#include <memory>

#include "data/batch/epoch_order.h"
#include "data/dataset/reader.h"

namespace paceline {

struct Sample {
  std::span<const uint32_t> ids;
  uint32_t label = 0;              // LabelKind::single
  std::span<const uint8_t> flags;  // LabelKind::multiple
};

// A step's samples; grain g is samples [g * grain_size, (g + 1) * grain_size) of them.
struct Batch {
  uint64_t step = 0, epoch = 0, step_in_epoch = 0;  // step counts over all epochs
  std::vector<Sample> samples;
  uint64_t grain_size = 1, tokens = 0;

  uint64_t grains() const { return (samples.size() + grain_size - 1) / grain_size; }
  std::span<const Sample> grain(uint64_t g) const {
    const uint64_t first = g * grain_size;
    return std::span(samples).subspan(first, std::min<uint64_t>(grain_size, samples.size() - first));
  }
};

class Batches {
 public:
  Batches(SplitReader reader, const SplitInfo& split, uint64_t classes, uint64_t seed, uint64_t batch_size,
          uint64_t grain_size);
  ~Batches();
  uint64_t steps_per_epoch() const { return order_.steps(); }
  // The batch of any step, counted over all epochs; steps in order are read ahead. The views are valid
  // until the next call.
  const Batch& at(uint64_t step);

 private:
  using Window = std::pair<uint64_t, uint64_t>;  // epoch, window
  Window window_of(uint64_t step) const;
  std::unique_ptr<Rows> load(Window window);
  void move_to(Window window);
  SplitReader reader_;
  EpochOrder order_;
  uint64_t classes_, seed_;
  std::optional<Window> current_, expected_;
  std::unique_ptr<Rows> rows_;
  std::future<std::unique_ptr<Rows>> ahead_;
  Batch batch_;
};

// The samples of rows in memory, for evaluation.
Sample sample_of(const Rows& rows, uint64_t classes, size_t row);

}  // namespace paceline
