#include "engine/model/bert.h"

#include <gtest/gtest.h>

#include "../scratch.h"
#include "base/error.h"
#include "masked_pieces.h"
#include "small_training.h"

namespace paceline {
namespace {

TrainOptions small_options() {
  TrainOptions options = default_train_options("bert");
  options.learning_rate = 0.003;
  options.bert.hidden = 24;
  options.bert.heads = 3;
  options.bert.layers = 3;
  options.bert.intermediate = 40;
  options.bert.positions = 64;
  options.bert.vocabulary = 200;
  return options;
}

Task task_with_pieces() {
  Task task = task_of(3);
  task.pieces = masked_task(200).pieces;
  return task;
}

std::vector<float> trained(const TrainOptions& options, unsigned executors, uint64_t steps = 6) {
  Executors crew(executors);
  const auto learner = make_learner(options, task_with_pieces());
  train_steps(*learner, 0, steps, crew);
  return values_of(learner->state());
}

TEST(Bert, SameBitsForAnyExecutors) {
  for (uint64_t freeze : {0, 1, 3})
    for (double layer_decay : {1.0, 0.8}) {
      TrainOptions options = small_options();
      options.ema = 0.9;
      options.bert.freeze = freeze;
      options.bert.layer_decay = layer_decay;
      const auto one = trained(options, 1);
      for (unsigned executors : {2u, 3u, 5u})
        EXPECT_TRUE(trained(options, executors) == one) << freeze << " " << layer_decay << " " << executors;
    }
}

TEST(Bert, HiddenPiecesBelongToTheBitsWhichAreTheSameForAnyExecutors) {
  TrainOptions options = small_options();
  options.bert.hidden_dropout = options.bert.attention_dropout = options.bert.classifier_dropout = 0;
  const auto whole = trained(options, 1);
  options.bert.piece_dropout = 0.3;
  for (const char* update : {"dense", "lazy"}) {
    options.embedding_update = update;
    const auto one = trained(options, 1);
    EXPECT_FALSE(one == whole);
    for (unsigned executors : {2u, 3u, 5u})
      EXPECT_TRUE(trained(options, executors) == one) << update << " " << executors;
  }
}

TEST(Bert, LowerLayersLearnMoreSlowlyAndBiasesAndNormsDoNotDecay) {
  TrainOptions options = small_options();
  options.bert.layer_decay = 0.5;
  const auto model = make_tensor_model(options, task_of(3));
  ASSERT_EQ(model->parameters().size(), 5u + 3 * 16 + 4);
  for (const Parameter& p : model->parameters()) {
    const size_t layer = p.name.find("layer.");
    const bool is_head = p.name.starts_with("bert.pooler") || p.name.starts_with("classifier");
    const double rate = is_head                      ? 1
                        : layer == std::string::npos ? 0.0625
                                                     : 0.125 * (1 << (p.name[layer + 6] - '0'));
    EXPECT_EQ(p.rate, rate) << p.name;
    EXPECT_EQ(p.decay, !p.name.ends_with("bias") && p.name.find("LayerNorm") == std::string::npos) << p.name;
  }
}

TEST(Bert, ComputingLayersAgainChangesNoBit) {
  TrainOptions options = small_options();
  const auto kept = trained(options, 2);
  options.bert.recompute = true;
  EXPECT_TRUE(trained(options, 2) == kept);
}

TEST(Bert, FrozenLayersAndEmbeddingsStayAsTheyWere) {
  TrainOptions options = small_options();
  options.bert.freeze = 2;
  expect_two_frozen_layers(*make_learner(options, task_of(3)));
}

using BertFiles = Scratch;

TEST_F(BertFiles, ALearnerGoesOnFromItsStateInTheSameBits) {
  TrainOptions options = small_options();
  options.ema = 0.95;
  Executors crew(2);
  const auto whole = make_learner(options, task_of(3)), first = make_learner(options, task_of(3)),
             second = make_learner(options, task_of(3));
  train_steps(*whole, 0, 9, crew);
  train_steps(*first, 0, 4, crew);
  const fs::path file = folder / "state.safetensors";
  write_safetensors(file, first->state(), {});
  second->load_state(SafetensorsReader(file), nlohmann::json::parse(first->state_numbers().dump()));
  train_steps(*second, 4, 9, crew);
  EXPECT_TRUE(values_of(whole->state()) == values_of(second->state()));
}

TEST(Bert, ATextsLogitsDoNotDependOnTheTextsBesideIt) {
  const BertModel model(small_options(), task_of(3));
  const Data data(1, 40, 64);
  std::vector<Text> texts(data.ids.begin(), data.ids.end());
  std::vector<float> together(40 * 3), alone(3);
  model.logits(texts, together);
  for (size_t i = 0; i < texts.size(); ++i) {
    model.logits(std::span(&texts[i], 1), alone);
    for (size_t c = 0; c < 3; ++c) ASSERT_EQ(alone[c], together[i * 3 + c]) << i;
  }
}

TEST(Bert, LogitsAreTheSameHoweverTextsArePacked) {
  const BertModel model(small_options(), task_of(3));
  const Data data(2, 300, 64);  // more tokens than are computed at once
  std::vector<Text> texts;
  for (const auto& ids : data.ids) texts.emplace_back(ids, static_cast<uint32_t>(ids.size() / 2));
  std::vector<float> together(texts.size() * 3), backwards(texts.size() * 3);
  model.logits(texts, together);
  std::reverse(texts.begin(), texts.end());
  model.logits(texts, backwards);
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t c = 0; c < 3; ++c) ASSERT_EQ(together[i * 3 + c], backwards[(texts.size() - 1 - i) * 3 + c]);
}

TEST(Bert, TheSecondTextOfAPairIsToldApart) {
  const BertModel model(small_options(), task_of(3));
  const std::vector<uint32_t> ids = {2, 7, 3, 9, 3};
  const std::vector<Text> texts = {Text(ids), Text(ids, 3)};
  std::vector<float> logits(6);
  model.logits(texts, logits);
  EXPECT_NE(logits[0], logits[3]);
}

TEST(Bert, OneTokenAndMoreThanThereArePositions) {
  const BertModel model(small_options(), task_of(3));
  const std::vector<uint32_t> ids(20000, 7);
  const std::vector<Text> texts = {std::span(ids).first(1), std::span(ids), std::span(ids).first(64)};
  std::vector<float> logits(9);
  model.logits(texts, logits);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_TRUE(std::isfinite(logits[c]));
    EXPECT_EQ(logits[3 + c], logits[6 + c]) << "what lies behind the last position counts";
  }
}

TEST_F(BertFiles, SavedAndLoadedItGivesTheSameLogits) {
  TrainOptions options = small_options();
  Task task = task_of(3);
  task.tokenizer.kind = "wordpiece";
  const auto learner = make_learner(options, task);
  Executors crew(2);
  train_steps(*learner, 0, 3, crew);
  write_file_atomically(folder / "vocab.txt", "a\n");
  save_model(learner->model(), task, folder / "vocab.txt", folder / "model");
  const LoadedModel loaded = load_model(folder / "model");
  const Data data(3, 20, 40);
  const std::vector<Text> texts(data.ids.begin(), data.ids.end());
  std::vector<float> before(60), after(60);
  learner->model().logits(texts, before);
  loaded.model->logits(texts, after);
  EXPECT_EQ(before, after);
}

TEST(Bert, LearnsWhichWordComesFirst) {
  TrainOptions options = small_options();
  options.bert.layers = 1;
  options.bert.hidden_dropout = options.bert.attention_dropout = options.bert.classifier_dropout = 0;
  const auto learner = make_learner(options, task_of(3));
  Executors crew(2);
  double first = 0, last = 0;
  for (uint64_t step = 0; step < 150; ++step) {
    const double loss = train_step(*learner, step, crew);
    (step == 0 ? first : last) = loss;
  }
  EXPECT_GT(first, 0.9);
  EXPECT_LT(last, 0.1);
}

}  // namespace
}  // namespace paceline
