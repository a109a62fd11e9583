// The batches of a training run, one step after another; read ahead in the background.
#pragma once
#include <future>
#include <memory>
#include <optional>

#include "data/batch/batch.h"
#include "data/batch/epoch_order.h"

namespace paceline {

struct BatchOptions {
  uint64_t seed = 1;
  uint64_t batch_size = 128;      // samples of a step
  uint64_t grain_size = 16;       // samples of a grain, on average
  uint64_t grain_tokens = 16384;  // most tokens of a grain; a longer text is a grain of its own
  uint64_t bucket_batches = 1;    // batches whose samples are sorted by length together; 1: none are
  uint64_t max_length = 0;        // tokens of a text that are used; 0: all
  bool ends_stay = false;         // of a text that is cut [SEP] stays, as Rows::shorten says
};

// With buckets a step's samples have similar lengths: the rows of a pool are sorted by length and cut into
// batches of neighbours, visited in a shuffled order. Every row is visited once an epoch, and only one
// batch of an epoch's last pool may be smaller than the others, wherever it falls.
class Batches {
 public:
  Batches(SplitReader reader, const SplitInfo& split, uint64_t classes, const BatchOptions& options);
  ~Batches();
  uint64_t steps_per_epoch() const { return order_.steps(); }
  // The batch of any step, counted over all epochs; steps in order are read ahead. The views are valid
  // until the next call.
  const Batch& at(uint64_t step);

 private:
  using Window = std::pair<uint64_t, uint64_t>;  // epoch, window
  struct Loaded {
    Rows rows;
    std::vector<uint32_t> order;  // places in rows, pool after pool, each by length
  };
  std::unique_ptr<Loaded> load(Window window);
  void move_to(Window window);
  void sort_by_length(const Rows& rows, std::span<uint32_t> places) const;

  BatchOptions options_;
  SplitReader reader_;
  EpochOrder order_;
  uint64_t classes_;
  std::optional<Window> current_, expected_;
  std::unique_ptr<Loaded> loaded_;
  std::future<std::unique_ptr<Loaded>> ahead_;
  Batch batch_;
};

}  // namespace paceline
