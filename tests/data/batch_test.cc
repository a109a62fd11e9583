#include <set>

#include "../scratch.h"
#include "base/error.h"
#include "base/random.h"
#include "data/batch/batches.h"
#include "data/dataset/shard_writer.h"
#include "data/text/vocabulary.h"

namespace paceline {
namespace {

class BatchesOf : public Scratch {
 protected:
  // Rows of these lengths; every id of row r is r + 2, and its label r % 2.
  void write_rows(const std::vector<uint64_t>& lengths, LabelKind labels = LabelKind::single) {
    lengths_ = lengths;
    info_ = {};
    info_.labels = labels;
    info_.classes = {"a", "b"};
    info_.tokenizer.vocabulary_size = lengths.size() + 2;
    SplitWriter writer(folder, "train", {labels, 2});
    for (uint32_t r = 0; r < lengths.size(); ++r) {
      const std::vector<uint32_t> ids(lengths[r], r + 2);
      const uint8_t flags[2] = {uint8_t(r % 2), uint8_t(r % 3 == 0)};
      RowView row{ids, labels == LabelKind::single ? r % 2 : 0, {}};
      if (labels == LabelKind::multiple) row.labels = flags;
      writer.add(row);
    }
    info_.splits.push_back(writer.finish());
  }
  void write_rows_of_random_lengths(uint64_t rows, uint64_t shortest, uint64_t longest) {
    RandomStream random({rows});
    std::vector<uint64_t> lengths(rows);
    for (auto& length : lengths) length = shortest + random.below(longest - shortest + 1);
    write_rows(lengths);
  }
  // window_rows: the split is said to have rows so long that about so many make a window.
  Batches open(const BatchOptions& options, uint64_t window_rows = 65536) const {
    SplitInfo split = info_.splits[0];
    split.tokens = std::max(split.tokens, split.rows * 4000000 / window_rows);
    return Batches(SplitReader(folder, info_, "train"), split, 2, options);
  }
  static std::string text(const Batch& batch) {
    std::string out = fmt::format("{} {} {}: ", batch.step, batch.epoch, batch.step_in_epoch);
    for (const auto& s : batch.samples) out += fmt::format("{}x{}={} ", s.ids[0], s.ids.size(), s.label);
    for (uint64_t begin : batch.grain_begin) out += fmt::format("|{}", begin);
    return out;
  }
  // Mean over the steps of an epoch of the padding that a trainer with rectangular batches would have.
  static double padding(Batches& batches) {
    uint64_t tokens = 0, places = 0;
    for (uint64_t step = 0; step < batches.steps_per_epoch(); ++step) {
      const Batch& batch = batches.at(step);
      tokens += batch.tokens;
      places += batch.samples.size() * batch.longest;
    }
    return 1 - double(tokens) / double(places);
  }
  std::vector<uint64_t> lengths_;
  DatasetInfo info_;
};

TEST_F(BatchesOf, EveryRowIsVisitedOnceAnEpochAndOneBatchAtMostIsSmaller) {
  for (uint64_t rows : {1u, 5u, 100u, 513u, 3000u}) {
    write_rows_of_random_lengths(rows, 1, 9);
    for (uint64_t size : {1u, 7u, 32u, 5000u})
      for (uint64_t bucket : {1u, 2u, 5u, 1000u}) {
        Batches batches = open({.seed = 9, .batch_size = size, .bucket_batches = bucket}, 600);
        SCOPED_TRACE(fmt::format("{} rows, batches of {}, buckets of {}", rows, size, bucket));
        ASSERT_EQ(batches.steps_per_epoch(), (rows + size - 1) / size);
        for (uint64_t epoch : {0u, 1u}) {
          std::vector<uint64_t> seen(rows, 0);
          uint64_t smaller = 0;
          for (uint64_t s = 0; s < batches.steps_per_epoch(); ++s) {
            const Batch& batch = batches.at(epoch * batches.steps_per_epoch() + s);
            smaller += batch.samples.size() < size;
            ASSERT_LE(batch.samples.size(), size);
            for (const auto& sample : batch.samples) {
              ++seen[sample.ids[0] - 2];
              ASSERT_EQ(sample.ids.size(), lengths_[sample.ids[0] - 2]);
              ASSERT_EQ(sample.label, (sample.ids[0] - 2) % 2);
            }
          }
          EXPECT_EQ(uint64_t(std::ranges::count(seen, 1u)), rows);
          EXPECT_EQ(smaller, rows % size != 0 ? 1u : 0u);
        }
      }
  }
}

TEST_F(BatchesOf, AnyStepGivesTheSameSamplesInOrderOrNot) {
  write_rows_of_random_lengths(3000, 1, 40);
  for (uint64_t bucket : {1u, 4u, 1000u}) {
    const BatchOptions options = {.seed = 5, .batch_size = 32, .grain_size = 8, .bucket_batches = bucket};
    Batches in_order = open(options, 600);
    std::vector<std::string> batches;
    for (uint64_t step = 0; step < 200; ++step) batches.push_back(text(in_order.at(step)));
    EXPECT_EQ(in_order.steps_per_epoch(), 94u);
    Batches jumping = open(options, 600);
    for (uint64_t step : {150u, 3u, 94u, 199u, 93u, 92u, 95u, 0u, 17u, 16u})
      EXPECT_EQ(text(jumping.at(step)), batches[step]) << "buckets of " << bucket;
  }
}

TEST_F(BatchesOf, EpochsSeedsAndBucketsDiffer) {
  write_rows_of_random_lengths(3000, 1, 40);
  auto rows = [](const Batch& batch) {
    std::set<uint32_t> ids;
    for (const auto& sample : batch.samples) ids.insert(sample.ids[0]);
    return ids;
  };
  for (uint64_t bucket : {1u, 8u}) {
    Batches one = open({.seed = 1, .batch_size = 32, .bucket_batches = bucket});
    Batches two = open({.seed = 2, .batch_size = 32, .bucket_batches = bucket});
    Batches other = open({.seed = 1, .batch_size = 32, .bucket_batches = bucket + 1});
    const auto first = rows(one.at(0));
    EXPECT_NE(first, rows(one.at(one.steps_per_epoch())));
    EXPECT_NE(first, rows(two.at(0)));
    EXPECT_NE(first, rows(other.at(0)));
  }
}

TEST_F(BatchesOf, BucketsMakeTheLengthsOfABatchSimilar) {
  // Most texts are short and a few are long, as reviews are.
  RandomStream random({8});
  std::vector<uint64_t> lengths(12000);
  for (auto& length : lengths) length = 10 + random.below(1 + random.below(1 + random.below(400)));
  write_rows(lengths);
  Batches mixed = open({.batch_size = 64}), bucketed = open({.batch_size = 64, .bucket_batches = 32});
  EXPECT_GT(padding(mixed), 0.5);
  EXPECT_LT(padding(bucketed), 0.10);
  std::vector<uint64_t> spreads;
  bool ascending = true;
  for (uint64_t step = 0, before = 0; step < bucketed.steps_per_epoch(); ++step) {
    const Batch& batch = bucketed.at(step);
    spreads.push_back(batch.longest - batch.samples.back().ids.size());
    if (step < 32) ascending = ascending && batch.longest >= before;
    before = batch.longest;
  }
  std::ranges::sort(spreads);
  EXPECT_LE(spreads[spreads.size() / 2], 4u);
  EXPECT_FALSE(ascending) << "the batches of a pool come shuffled";
}

TEST_F(BatchesOf, BucketsLargerThanAWindowStopAtItsEnd) {
  write_rows_of_random_lengths(3000, 1, 40);
  Batches window = open({.batch_size = 32, .bucket_batches = 18}, 600);
  Batches larger = open({.batch_size = 32, .bucket_batches = 1000000}, 600);
  for (uint64_t step = 0; step < 2 * window.steps_per_epoch(); ++step)
    ASSERT_EQ(text(window.at(step)), text(larger.at(step)));
  EXPECT_LT(padding(larger), 0.08);  // 18 batches share 40 lengths: about two in each, 1 of 20 tokens
}

TEST_F(BatchesOf, TextsAreCutToTheLengthGivenBeforeTheyAreSorted) {
  write_rows_of_random_lengths(2000, 1, 60);
  Batches batches = open({.batch_size = 50, .bucket_batches = 40, .max_length = 20});
  uint64_t cut_only = 0;
  for (uint64_t step = 0; step < batches.steps_per_epoch(); ++step) {
    const Batch& batch = batches.at(step);
    EXPECT_LE(batch.longest, 20u);
    cut_only += batch.samples.back().ids.size() == 20;
    uint64_t tokens = 0;
    for (const auto& sample : batch.samples) {
      tokens += sample.ids.size();
      ASSERT_EQ(sample.ids.size(), std::min<uint64_t>(20, lengths_[sample.ids[0] - 2]));
    }
    EXPECT_EQ(batch.tokens, tokens);
  }
  EXPECT_GE(cut_only, 25u) << "two thirds of the texts have the same length once they are cut";
}

TEST_F(BatchesOf, AnEmptyTextIsOneUnknownWord) {
  write_rows(std::vector<uint64_t>(10, 0));
  Batches batches = open({.batch_size = 4, .grain_size = 2, .bucket_batches = 2});
  for (uint64_t step = 0; step < 3; ++step) {
    const Batch& batch = batches.at(step);
    EXPECT_EQ(batch.tokens, batch.samples.size());
    for (const auto& sample : batch.samples) {
      ASSERT_EQ(sample.ids.size(), 1u);
      EXPECT_EQ(sample.ids[0], Vocabulary::unknown_id);
    }
  }
}

TEST_F(BatchesOf, SeveralLabelsStayWithTheirRow) {
  std::vector<uint64_t> lengths(300);
  for (uint64_t r = 0; r < 300; ++r) lengths[r] = 1 + r * 7 % 13;
  write_rows(lengths, LabelKind::multiple);
  Batches batches = open({.batch_size = 16, .bucket_batches = 4});
  for (uint64_t step = 0; step < batches.steps_per_epoch(); ++step)
    for (const auto& sample : batches.at(step).samples) {
      const uint32_t row = sample.ids[0] - 2;
      ASSERT_EQ(sample.flags.size(), 2u);
      ASSERT_EQ(sample.flags[0], row % 2);
      ASSERT_EQ(sample.flags[1], row % 3 == 0);
    }
}

TEST_F(BatchesOf, ADamagedRowEndsEveryCallThatNeedsIt) {
  write_rows_of_random_lengths(3000, 1, 9);
  info_.tokenizer.vocabulary_size -= 1;  // the last row's id is now out of range
  Batches batches = open({.batch_size = 32, .bucket_batches = 4}, 600);
  uint64_t step = 0;
  auto reach_the_row = [&] {
    for (; step < batches.steps_per_epoch(); ++step) batches.at(step);
  };
  EXPECT_THROW(reach_the_row(), InputError);
  EXPECT_THROW(batches.at(step), InputError) << "asked for again, it is read again";
}

TEST_F(BatchesOf, AVeryLongTextAmongShortOnesIsAGrainOfItsOwn) {
  std::vector<uint64_t> lengths(64, 100);
  lengths[40] = 20000;
  write_rows(lengths);
  Batches batches = open({.batch_size = 64});
  const Batch& batch = batches.at(0);
  ASSERT_EQ(batch.grains(), 4u);
  ASSERT_EQ(batch.grain(0).size(), 1u);
  EXPECT_EQ(batch.grain(0)[0].ids.size(), 20000u);
}

}  // namespace
}  // namespace paceline
