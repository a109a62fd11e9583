#include "engine/model/lstm.h"

#include <gtest/gtest.h>

#include "../scratch.h"
#include "base/error.h"
#include "engine/model/word_vectors.h"
#include "small_training.h"

namespace paceline {
namespace {

TrainOptions small_options(const std::string& cell, bool both) {
  TrainOptions options;
  options.model = "lstm";
  options.optimizer = "adam";
  options.learning_rate = 0.01;
  options.clip = 1;
  options.lstm.cell = cell;
  options.lstm.bidirectional = both;
  options.lstm.embedding = 20;
  options.lstm.hidden = 24;
  options.lstm.layers = 2;
  options.lstm.word_dropout = 0.05;
  options.lstm.recurrent_dropout = 0.1;
  return options;
}

TEST(Lstm, SameBitsForAnyExecutors) {
  for (const char* cell : {"lstm", "gru"})
    for (bool both : {false, true})
      for (const char* update : {"lazy", "dense"}) {
        TrainOptions options = small_options(cell, both);
        options.embedding_update = update;
        options.ema = 0.9;
        std::vector<std::vector<float>> results;
        for (unsigned executors : {1u, 2u, 3u, 5u}) {
          Executors crew(executors);
          const auto learner = make_learner(options, task_of(3));
          train_steps(*learner, 0, 6, crew);
          results.push_back(values_of(learner->state()));
        }
        for (const auto& result : results) EXPECT_TRUE(result == results[0]) << cell << both << update;
      }
}

class LstmFiles : public Scratch {
 protected:
  // A new learner with the state of this one, by way of a file.
  std::unique_ptr<Learner> saved_and_loaded(const Learner& saved, const TrainOptions& options) const {
    const fs::path file = folder / "state.safetensors";
    write_safetensors(file, saved.state(), {});
    auto loaded = make_learner(options, task_of(3));
    loaded->load_state(SafetensorsReader(file), nlohmann::json::parse(saved.state_numbers().dump()));
    return loaded;
  }
};

TEST_F(LstmFiles, ALearnerGoesOnFromItsStateInTheSameBits) {
  for (const char* optimizer : {"adam", "adamw", "sgd"}) {
    TrainOptions options = small_options("lstm", false);
    options.optimizer = optimizer;
    options.ema = 0.95;
    options.weight_decay = 0.01;
    Executors crew(2);
    const auto whole = make_learner(options, task_of(3)), first = make_learner(options, task_of(3));
    train_steps(*whole, 0, 9, crew);
    train_steps(*first, 0, 4, crew);
    const auto second = saved_and_loaded(*first, options);
    train_steps(*second, 4, 9, crew);
    EXPECT_TRUE(values_of(whole->state()) == values_of(second->state())) << optimizer;
  }
}

// Rows that no text has touched are left out of the update; which ones that are is found again.
TEST_F(LstmFiles, ALearnerGoesOnWhileSomeWordsHaveNotComeUpYet) {
  for (const char* optimizer : {"adam", "adamw", "sgd"}) {
    TrainOptions options = small_options("lstm", false);
    options.optimizer = optimizer;
    options.embedding_update = "dense";
    options.weight_decay = std::string(optimizer) == "adamw" ? 0.01 : 0;
    Executors crew(2);
    const auto whole = make_learner(options, task_of(3)), first = make_learner(options, task_of(3));
    train_steps(*whole, 0, 4, crew);
    train_steps(*first, 0, 1, crew);
    const auto second = saved_and_loaded(*first, options);
    size_t untouched = 0;
    for (const TensorView& view : first->state())
      for (uint64_t row = 0; view.name == "first.embedding.weight" && row < view.rows; ++row)
        untouched += std::count(view.values + row * view.stride, view.values + (row + 1) * view.stride,
                                0.f) == static_cast<long>(view.stride);
    EXPECT_GT(untouched, 5u);
    train_steps(*second, 1, 4, crew);
    EXPECT_TRUE(values_of(whole->state()) == values_of(second->state())) << optimizer;
  }
}

TEST(Lstm, ATextsLogitsDoNotDependOnTheTextsBesideIt) {
  for (const char* pooling : {"last", "mean", "max", "attention"}) {
    TrainOptions options = small_options("lstm", true);
    options.lstm.pooling = pooling;
    const LstmModel model(options, task_of(3));
    const Data data(1, 40, 300);
    std::vector<Text> texts(data.ids.begin(), data.ids.end());
    std::vector<float> together(40 * 3), alone(3);
    model.logits(texts, together);
    for (size_t i = 0; i < texts.size(); ++i) {
      model.logits(std::span(&texts[i], 1), alone);
      for (size_t c = 0; c < 3; ++c) ASSERT_EQ(alone[c], together[i * 3 + c]) << pooling << i;
    }
  }
}

TEST(Lstm, OneTokenAndTwentyThousandInOneBatch) {
  TrainOptions options = small_options("gru", true);
  const auto learner = make_learner(options, task_of(2));
  std::vector<uint32_t> long_text(20000, 5), one = {7};
  Batch batch;
  batch.samples = {{long_text, 0, {}}, {one, 1, {}}, {one, 1, {}}};
  cut_into_grains(batch, 8, 16384);
  EXPECT_EQ(batch.grains(), 2u);
  Executors crew(2);
  learner->begin_step(batch, crew.count());
  double loss = 0;
  std::vector<GrainLoss> losses(batch.grains());
  crew.run(batch.grains(), [&](uint64_t g, unsigned executor) {
    losses[g] = learner->compute_grains(batch, g, 1, executor)[0];
  });
  for (const auto& part : losses) loss += part.loss;
  EXPECT_TRUE(std::isfinite(loss));
  EXPECT_FALSE(learner->finish_grains(batch, crew));  // calibration
}

TEST(Lstm, LearnsAnOrderThatCountingWordsCannot) {
  // Class 1 when the word 9 stands before the word 8.
  TrainOptions options = small_options("lstm", false);
  options.lstm.word_dropout = options.lstm.recurrent_dropout = options.lstm.embedding_dropout = 0;
  options.lstm.layer_dropout = options.lstm.output_dropout = 0;
  options.lstm.layers = 1;
  options.lstm.pooling = "last";
  const auto learner = make_learner(options, task_of(2));
  Executors crew(2);
  double last = 1;
  for (uint64_t step = 0; step < 300; ++step) {
    RandomStream random({step, 77});
    std::vector<std::vector<uint32_t>> ids(32, std::vector<uint32_t>(8));
    Batch batch;
    batch.step = step;
    for (auto& row : ids) {
      for (auto& id : row) id = static_cast<uint32_t>(20 + random.below(50));
      const uint32_t first = static_cast<uint32_t>(random.below(7));
      const bool yes = random.below(2) == 1;
      row[first] = yes ? 9 : 8;
      row[first + 1 + random.below(7 - first)] = yes ? 8 : 9;
      batch.samples.push_back({row, yes ? 1u : 0u, {}});
    }
    cut_into_grains(batch, 8, 16384);
    GrainLoss total;
    do {
      std::vector<GrainLoss> losses(batch.grains());
      learner->begin_step(batch, crew.count());
      crew.run(batch.grains(), [&](uint64_t g, unsigned executor) {
        losses[g] = learner->compute_grains(batch, g, 1, executor)[0];
      });
      total = {};
      for (const auto& part : losses) total.loss += part.loss, total.weight += part.weight;
    } while (!learner->finish_grains(batch, crew));
    learner->update(batch, 0.01, total.weight, crew);
    last = total.loss / total.weight;
  }
  EXPECT_LT(last, 0.1);
}

TEST_F(LstmFiles, WordVectorsFillTheRowsOfTheirWords) {
  write_file_atomically(folder / "vocab.txt", "<pad>\n<unk>\ngood\nbad\nfine\n");
  const auto vocabulary = Vocabulary::load(folder / "vocab.txt");
  std::vector<float> table(5 * 2, 9.f);
  write_file_atomically(folder / "v.txt", "3 2\nbad 0.5 -1\nnowhere 1 1\ngood 2 3e-1\n");
  const auto facts = read_word_vectors(folder / "v.txt", vocabulary, 2, table.data());
  EXPECT_EQ(facts.found, 2u);
  EXPECT_EQ(table, (std::vector<float>{9, 9, 9, 9, 2, 0.3f, 0.5f, -1, 9, 9}));
  for (const char* bad : {"good 1\n", "good 1 2 3\n", "good 1 x\n", "good 1 nan\n", "other 1 2\n", ""}) {
    write_file_atomically(folder / "v.txt", bad);
    EXPECT_THROW(read_word_vectors(folder / "v.txt", vocabulary, 2, table.data()), InputError) << bad;
  }
}

}  // namespace
}  // namespace paceline
