#include <numeric>
#include <set>

#include "../scratch.h"
#include "data/batch/batches.h"
#include "data/dataset/shard_writer.h"

namespace paceline {
namespace {

TEST(EpochOrder, VisitsEveryRowOnceInEveryEpoch) {
  for (uint64_t rows : {1u, 5u, 511u, 512u, 513u, 100000u, 131072u})
    for (uint64_t batch : {1u, 7u, 128u, 5000u}) {
      const EpochOrder order(rows, batch, 40);
      std::vector<uint8_t> seen(rows, 0);
      std::vector<uint64_t> window;
      for (uint64_t step = 0, current = UINT64_MAX; step < order.steps(); ++step) {
        if (order.window_of(step) != current) {
          current = order.window_of(step);
          window.clear();
          for (const auto& run : order.window_runs(3, 1, current))
            for (uint64_t i = 0; i < run.count; ++i) window.push_back(run.first + i);
        }
        for (uint64_t place : order.step_rows(3, 1, step)) ++seen[window.at(place)];
      }
      EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), uint64_t{0}), rows)
          << rows << " rows, batches of " << batch;
      EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1) << rows << " rows, batches of " << batch;
    }
}

TEST(EpochOrder, DiffersByEpochAndSeedAndIsEnteredAnywhere) {
  const EpochOrder order(200000, 64, 100);
  EXPECT_NE(order.step_rows(1, 0, 500), order.step_rows(1, 1, 500));
  EXPECT_NE(order.step_rows(1, 0, 500), order.step_rows(2, 0, 500));
  EXPECT_EQ(order.step_rows(1, 0, 500), EpochOrder(200000, 64, 100).step_rows(1, 0, 500));
}

TEST(EpochOrder, WindowsOfLongRowsAreSmaller) {
  const EpochOrder shorter(1000000, 64, 10), longer(1000000, 64, 2000);
  EXPECT_GT(longer.windows(), shorter.windows() * 10);
}

class BatchesOf : public Scratch {};

TEST_F(BatchesOf, AnyStepGivesTheSameSamplesInOrderOrNot) {
  SplitWriter writer(folder, "train", LabelKind::single, 2, 0);
  for (uint32_t r = 0; r < 3000; ++r) {
    const std::vector<uint32_t> ids = {r % 97, r % 89, r % 83};
    writer.add({std::span(ids).first(1 + r % 3), r % 2, {}});
  }
  DatasetInfo info;
  info.labels = LabelKind::single;
  info.classes = {"a", "b"};
  info.tokenizer.vocabulary_size = 100;
  info.splits.push_back(writer.finish());
  auto open = [&] { return Batches(SplitReader(folder, info, "train"), info.splits[0], 2, 5, 32, 8); };
  auto text = [](const Batch& batch) {
    std::string out;
    for (const auto& sample : batch.samples) {
      for (uint32_t id : sample.ids) out += std::to_string(id) + " ";
      out += std::to_string(sample.label) + "|";
    }
    return out;
  };
  Batches in_order = open();
  std::vector<std::string> batches;
  for (uint64_t step = 0; step < 200; ++step) batches.push_back(text(in_order.at(step)));
  EXPECT_EQ(in_order.steps_per_epoch(), 94u);
  EXPECT_EQ(in_order.at(93).samples.size(), 3000u - 93 * 32);
  Batches jumping = open();
  for (uint64_t step : {150u, 3u, 94u, 199u, 93u}) EXPECT_EQ(text(jumping.at(step)), batches[step]);
  EXPECT_NE(batches[0], batches[94]);
}

}  // namespace
}  // namespace paceline
