// Grains that are computed together have the bits of grains that are computed alone.
#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "base/random.h"
#include "engine/model/lstm.h"
#include "engine/optim/learner.h"

namespace paceline {
namespace {

Task task_of(size_t classes) {
  Task task;
  for (size_t c = 0; c < classes; ++c) task.classes.push_back(std::to_string(c));
  task.tokenizer.vocabulary_size = 60;
  return task;
}

TrainOptions options_of(const std::string& cell, bool both, const std::string& pooling) {
  TrainOptions options;
  options.model = "lstm";
  options.optimizer = "adam";
  options.learning_rate = 0.01;
  LstmOptions& o = options.lstm;
  o.cell = cell;
  o.bidirectional = both;
  o.pooling = pooling;
  o.embedding = 9;
  o.hidden = 13;
  o.layers = 2;
  o.word_dropout = o.embedding_dropout = o.recurrent_dropout = o.layer_dropout = o.output_dropout = 0;
  return options;
}

// Nine grains: texts of one token, of none, equally long ones, one that is far longer than the others. A
// batch that is read from a data set has no empty text: there its place is taken by one unknown word.
struct Data {
  std::vector<std::vector<uint32_t>> ids;
  Batch batch;
  explicit Data(uint64_t shortest = 1, uint64_t times = 1) {
    RandomStream random({3});
    for (uint64_t length : {40, 9, 9, 7, 7, 7, 5, 5, 5, 1, 4, 4, 0, 4, 1, 1, 3, 3, 2, 2, 0, 0, 1, 1, 6}) {
      auto& row = ids.emplace_back(std::max(length * times, shortest));
      for (auto& id : row) id = static_cast<uint32_t>(random.below(60));
    }
    batch.step = 5;
    for (auto& row : ids) batch.samples.push_back({row, static_cast<uint32_t>(random.below(3)), {}});
    batch.grain_begin = {0, 1, 4, 9, 10, 14, 16, 20, 22, 25};
  }
};

// A hash of all that each grain gives, and of its loss.
class Hashes final : public GradientSink {
 public:
  Hashes(std::span<const Parameter> parameters, uint64_t first) : parameters_(parameters), first_(first) {}
  void dense(size_t grain, size_t parameter, const float* gradient) override {
    add(grain, parameter, gradient, parameters_[parameter].size() * sizeof(float));
  }
  void block(size_t grain, size_t parameter, const MatrixBlock& block) override {
    for (size_t r = 0; r < block.rows; ++r)
      add(grain, parameter, block.values + r * block.stride, block.columns * sizeof(float));
  }
  void rows(size_t grain, size_t parameter, std::span<const uint32_t> ids, const float* gradients) override {
    add(grain, parameter, ids.data(), ids.size_bytes());
    add(grain, parameter, gradients, ids.size() * parameters_[parameter].shape[1] * sizeof(float));
  }
  void add_losses(const std::vector<GrainLoss>& losses) {
    for (size_t grain = 0; grain < losses.size(); ++grain)
      add(grain, parameters_.size(), &losses[grain], sizeof(GrainLoss));
  }
  using Number = std::pair<uint64_t, size_t>;  // grain of the batch, parameter
  const std::map<Number, uint64_t>& all() const { return all_; }

 private:
  void add(size_t grain, size_t parameter, const void* values, size_t bytes) {
    uint64_t& hash = all_[{first_ + grain, parameter}];
    hash = hash64({static_cast<const char*>(values), bytes}, hash);
  }
  std::span<const Parameter> parameters_;
  uint64_t first_;
  std::map<Number, uint64_t> all_;
};

std::map<Hashes::Number, uint64_t> hashes_of(const TensorModel& model, const Batch& batch, uint64_t at_once) {
  const auto workspace = model.make_workspace();
  std::map<Hashes::Number, uint64_t> all;
  for (uint64_t first = 0; first < batch.grains(); first += at_once) {
    Hashes hashes(model.parameters(), first);
    const uint64_t count = std::min(at_once, batch.grains() - first);
    hashes.add_losses(model.compute_grains(batch, first, count, *workspace, hashes));
    for (const auto& [number, hash] : hashes.all()) EXPECT_TRUE(all.emplace(number, hash).second);
  }
  EXPECT_EQ(all.size(), batch.grains() * (model.parameters().size() + 1));
  return all;
}

void expect_same_bits(const TrainOptions& options, const std::string& name, uint64_t times = 1) {
  const Data data(0, times);
  const LstmModel model(options, task_of(3));
  const auto alone = hashes_of(model, data.batch, 1);
  for (uint64_t at_once : {2, 3, 4, 5, 6, 7, 8, 9})
    EXPECT_TRUE(hashes_of(model, data.batch, at_once) == alone) << name << ", " << at_once << " at once";
}

TEST(LstmJoined, GrainsTogetherHaveTheBitsOfGrainsAlone) {
  for (const char* cell : {"lstm", "gru"})
    for (bool both : {false, true})
      for (const char* pooling : {"last", "mean", "max", "attention"})
        expect_same_bits(options_of(cell, both, pooling), fmt::format("{} {} {}", cell, both, pooling));
}

// Products with inputs and gradients of inputs are computed for a part of the moments at a time.
TEST(LstmJoined, SoItIsWithTextsOfManyParts) {
  for (const char* cell : {"lstm", "gru"})
    for (bool both : {false, true})
      expect_same_bits(options_of(cell, both, "attention"), fmt::format("{} {} long", cell, both), 12);
}

TEST(LstmJoined, SoItIsWithEveryDropout) {
  constexpr std::pair<const char*, double LstmOptions::*> kinds[] = {
      {"word", &LstmOptions::word_dropout},
      {"embedding", &LstmOptions::embedding_dropout},
      {"recurrent", &LstmOptions::recurrent_dropout},
      {"layer", &LstmOptions::layer_dropout},
      {"output", &LstmOptions::output_dropout}};
  for (const char* cell : {"lstm", "gru"})
    for (bool both : {false, true}) {
      TrainOptions all = options_of(cell, both, "attention");
      for (const auto& [name, kind] : kinds) {
        TrainOptions one = options_of(cell, both, "mean");
        one.lstm.*kind = all.lstm.*kind = 0.3;
        expect_same_bits(one, fmt::format("{} {} {}", cell, both, name));
      }
      expect_same_bits(all, fmt::format("{} {} all", cell, both));
    }
}

TEST(LstmJoined, TextsThatAreCutStaySo) {
  TrainOptions options = options_of("lstm", true, "last");
  options.max_length = 5;
  options.lstm.word_dropout = 0.2;
  expect_same_bits(options, "cut");
}

TrainOptions bert_options() {
  TrainOptions options = default_train_options("bert");
  BertOptions& o = options.bert;
  o.hidden = 24;
  o.heads = 3;
  o.layers = 3;
  o.intermediate = 400;  // more than a block of a gradient has columns
  o.positions = 64;
  o.vocabulary = 60;
  o.hidden_dropout = o.attention_dropout = o.classifier_dropout = 0.2;
  return options;
}

TEST(BertJoined, GrainsTogetherHaveTheBitsOfGrainsAlone) {
  const Data data;
  for (uint64_t freeze : {0, 2, 3})
    for (bool recompute : {false, true}) {
      TrainOptions options = bert_options();
      options.bert.freeze = freeze;
      options.bert.recompute = recompute;
      const auto model = make_tensor_model(options, task_of(3));
      const auto alone = hashes_of(*model, data.batch, 1);
      for (uint64_t at_once : {2, 3, 5, 9})
        EXPECT_TRUE(hashes_of(*model, data.batch, at_once) == alone)
            << freeze << " " << recompute << ", " << at_once << " at once";
    }
}

// Counts what it is told.
struct Watch final : BucketWatch {
  std::vector<size_t> buckets;
  void added(unsigned, size_t bucket) override { buckets.push_back(bucket); }
};

TEST(JoinedGrains, BucketsAreToldOnceInTheirOrderWhenAllGrainsAreIn) {
  const Data data;
  for (const TrainOptions& options : {options_of("lstm", true, "attention"), bert_options()}) {
    const auto learner = make_learner(options, task_of(3));
    Watch watch;
    learner->set_watch(&watch);
    learner->begin_step(data.batch, 1);
    learner->compute_grains(data.batch, 0, 4, 0);
    std::vector<size_t> each;
    for (size_t bucket = 0; bucket < learner->buckets(); ++bucket) each.push_back(bucket);
    EXPECT_GT(each.size(), 1u);
    EXPECT_EQ(watch.buckets, each);
    watch.buckets.clear();
    learner->compute_grains(data.batch, 4, 1, 0);
    EXPECT_EQ(watch.buckets, each);
  }
}

uint64_t state_after_steps(const TrainOptions& options, const Batch& batch, uint64_t at_once) {
  Executors executors(2);
  const auto learner = make_learner(options, task_of(3));
  for (int step = 0; step < 3; ++step) {
    do {
      learner->begin_step(batch, 2);
      for (uint64_t first = 0; first < batch.grains(); first += at_once)
        learner->compute_grains(batch, first, std::min(at_once, batch.grains() - first), first / at_once % 2);
    } while (!learner->finish_grains(batch, executors));
    learner->update(batch, 0.01, 25, executors);
  }
  uint64_t hash = 0;
  for (const TensorView& view : learner->state())
    hash = hash64({reinterpret_cast<const char*>(view.values), view.rows * view.row_floats * sizeof(float)},
                  hash);
  return hash;
}

TEST(JoinedGrains, TheLearnersStateDoesNotDependOnHowManyAreComputedAtOnce) {
  TrainOptions gru = options_of("gru", true, "mean");
  gru.lstm.recurrent_dropout = 0.1;
  TrainOptions large_bert = bert_options();  // too large for its sums to stay in a cache
  large_bert.bert.hidden = 96;
  large_bert.bert.intermediate = 4000;
  const Data data;
  for (const TrainOptions& options : {gru, bert_options(), large_bert}) {
    const uint64_t alone = state_after_steps(options, data.batch, 1);
    for (uint64_t at_once : {4, 9})
      EXPECT_EQ(state_after_steps(options, data.batch, at_once), alone) << options.model;
  }
}

}  // namespace
}  // namespace paceline
