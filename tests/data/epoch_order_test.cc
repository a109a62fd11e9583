#include "data/batch/epoch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace paceline {
namespace {

// How often an epoch visits each row.
std::vector<uint8_t> visits(const EpochOrder& order, uint64_t rows, uint64_t seed, uint64_t epoch) {
  std::vector<uint8_t> seen(rows, 0);
  std::vector<uint64_t> window;
  std::vector<uint32_t> places;
  for (uint64_t step = 0, current = UINT64_MAX; step < order.steps(); ++step) {
    if (order.window_of(step) != current) {
      current = order.window_of(step);
      window.clear();
      for (const auto& run : order.window_runs(seed, epoch, current))
        for (uint64_t i = 0; i < run.count; ++i) window.push_back(run.first + i);
      places = order.window_order(seed, epoch, current);
    }
    const auto taken = order.step_rows(seed, epoch, step);
    for (uint64_t i = 0; i < taken.count; ++i) ++seen[window.at(places.at(taken.first + i))];
  }
  return seen;
}

TEST(EpochOrder, VisitsEveryRowOnceInEveryEpoch) {
  for (uint64_t rows : {1u, 5u, 511u, 512u, 513u, 100000u, 131072u})
    for (uint64_t batch : {1u, 7u, 128u, 5000u})
      for (uint64_t pool : {1u, 2u, 32u, 100000u}) {
        const EpochOrder order(rows, batch, 400, pool);
        const auto seen = visits(order, rows, 3, 1);
        EXPECT_EQ(std::ranges::count(seen, 1), static_cast<int64_t>(rows))
            << rows << " rows, batches of " << batch << ", pools of " << pool;
      }
}

TEST(EpochOrder, DiffersByEpochAndSeedAndIsEnteredAnywhere) {
  const EpochOrder order(200000, 64, 100, 16);
  EXPECT_NE(order.window_order(1, 0, 3), order.window_order(1, 1, 3));
  EXPECT_NE(order.window_order(1, 0, 3), order.window_order(2, 0, 3));
  EXPECT_NE(order.window_order(1, 0, 3), order.window_order(1, 0, 2));
  EXPECT_EQ(order.window_order(1, 0, 3), EpochOrder(200000, 64, 100, 16).window_order(1, 0, 3));
}

TEST(EpochOrder, VisitsTheBatchesOfAPoolInAnOrderOfItsOwn) {
  const EpochOrder order(200000, 64, 100, 16);
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t epoch : {0u, 1u, 2u})
    for (uint64_t pool : {0u, 1u, 50u}) {
      std::vector<uint64_t> firsts;
      for (uint64_t s = 0; s < 16; ++s) firsts.push_back(order.step_rows(1, epoch, pool * 16 + s).first);
      orders.insert(firsts);
    }
  EXPECT_EQ(orders.size(), 9u);
}

TEST(EpochOrder, EveryStepTakesItsRowsFromOnePool) {
  for (uint64_t rows : {1u, 700u, 30000u})
    for (uint64_t pool_steps : {1u, 5u, 32u, 100000u}) {
      const EpochOrder order(rows, 64, 400, pool_steps);
      uint64_t sorted = 0;
      for (uint64_t w = 0; w < order.windows(); ++w)
        for (const auto& pool : order.pools(w)) sorted += pool.count;
      EXPECT_EQ(sorted, rows);
      for (uint64_t step = 0; step < order.steps(); ++step) {
        const auto taken = order.step_rows(1, 0, step);
        const auto pools = order.pools(order.window_of(step));
        EXPECT_EQ(std::ranges::count_if(pools,
                                        [&](const auto& pool) {
                                          return taken.first >= pool.first &&
                                                 taken.first + taken.count <= pool.first + pool.count;
                                        }),
                  1)
            << rows << " rows, pools of " << pool_steps << ", step " << step;
      }
    }
}

TEST(EpochOrder, WindowsOfLongRowsAreSmaller) {
  const EpochOrder shorter(1000000, 64, 10), longer(1000000, 64, 2000);
  EXPECT_GT(longer.windows(), shorter.windows() * 10);
}

TEST(EpochOrder, PoolsDoNotEnlargeAWindow) {
  for (double tokens : {1.0, 230.0, 5000.0})
    for (uint64_t batch : {1u, 64u, 3000u})
      for (uint64_t pool : {1u, 32u, 33u, 1000000u}) {
        const EpochOrder order(1000000, batch, tokens, pool);
        const double most = std::max<double>(std::min(65536.0, 4e6 / tokens),
                                             std::max<double>(EpochOrder::block_rows, double(batch)));
        EXPECT_LE(double(order.window_size(0)), most) << tokens << " " << batch << " " << pool;
        EXPECT_GE(double(order.window_size(0)) * 2, most - 2 * double(batch))
            << tokens << " " << batch << " " << pool;
      }
}

}  // namespace
}  // namespace paceline
