// Pre-training of bert: what holds for any training, where masked pieces are guessed.
#include <gtest/gtest.h>

#include "../scratch.h"
#include "engine/model/bert.h"
#include "masked_pieces.h"
#include "small_training.h"

namespace paceline {
namespace {

Task task() {
  std::set<uint32_t> continuations;
  for (uint32_t id = 7; id < 200; id += 3) continuations.insert(id);
  return masked_task(200, continuations);
}

TrainOptions small_options() {
  TrainOptions options = default_train_options("bert");
  options.bert.hidden = 24;
  options.bert.heads = 3;
  options.bert.layers = 3;
  options.bert.intermediate = 40;
  options.bert.positions = 64;
  options.bert.vocabulary = 200;
  return options;
}

std::vector<float> trained(const TrainOptions& options, unsigned executors, uint64_t steps = 6) {
  Executors crew(executors);
  const auto learner = make_learner(options, task());
  train_steps(*learner, 0, steps, crew);
  return values_of(learner->state());
}

TEST(MaskedBert, SameBitsForAnyExecutors) {
  for (uint64_t freeze : {0, 1, 3})
    for (bool whole_words : {false, true}) {
      TrainOptions options = small_options();
      options.ema = 0.9;
      options.bert.freeze = freeze;
      options.bert.whole_words = whole_words;
      const auto one = trained(options, 1);
      for (unsigned executors : {2u, 3u, 5u})
        EXPECT_TRUE(trained(options, executors) == one) << freeze << " " << whole_words << " " << executors;
    }
}

TEST(MaskedBert, ComputingLayersAgainChangesNoBit) {
  TrainOptions options = small_options();
  const auto kept = trained(options, 2);
  options.bert.recompute = true;
  EXPECT_TRUE(trained(options, 2) == kept);
}

TEST(MaskedBert, WholeWordsBelongToTheBits) {
  TrainOptions options = small_options();
  options.bert.hidden_dropout = options.bert.attention_dropout = 0;
  const auto pieces = trained(options, 2);
  options.bert.whole_words = true;
  EXPECT_FALSE(trained(options, 2) == pieces);
}

TEST(MaskedBert, FrozenEmbeddingsStayAlsoWhereTheHeadUsesThem) {
  TrainOptions options = small_options();
  options.bert.freeze = 2;
  expect_two_frozen_layers(*make_learner(options, task()));
}

using MaskedBertFiles = Scratch;

TEST_F(MaskedBertFiles, ALearnerGoesOnFromItsStateInTheSameBits) {
  TrainOptions options = small_options();
  options.ema = 0.95;
  Executors crew(2);
  const auto whole = make_learner(options, task()), first = make_learner(options, task()),
             second = make_learner(options, task());
  train_steps(*whole, 0, 9, crew);
  train_steps(*first, 0, 4, crew);
  const fs::path file = folder / "state.safetensors";
  write_safetensors(file, first->state(), {});
  second->load_state(SafetensorsReader(file), nlohmann::json::parse(first->state_numbers().dump()));
  train_steps(*second, 4, 9, crew);
  EXPECT_TRUE(values_of(whole->state()) == values_of(second->state()));
}

TEST(MaskedBert, MemoryForLogitsIsBounded) {
  TrainOptions options = small_options();
  options.bert.vocabulary = 30522;
  const BertModel model(options, task());
  const uint64_t few = model.grain_bytes(4096, 32), many = model.grain_bytes(8192, 64);
  TrainOptions narrow = small_options();
  const BertModel small(narrow, task());
  const uint64_t difference = few - small.grain_bytes(4096, 32);
  EXPECT_NEAR(static_cast<double>(difference), static_cast<double>(many - small.grain_bytes(8192, 64)), 1e4)
      << "twice the tokens, the same memory for the vocabulary";
}

}  // namespace
}  // namespace paceline
