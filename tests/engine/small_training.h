// Shared by the tests of tensor models: batches of random texts, and some steps of training on them.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "engine/optim/learner.h"

namespace paceline {

inline Task task_of(size_t classes) {
  Task task;
  for (size_t c = 0; c < classes; ++c) task.classes.push_back(std::to_string(c));
  task.tokenizer.vocabulary_size = 200;
  return task;
}

// The label of a text is its first word modulo 3.
struct Data {
  std::vector<std::vector<uint32_t>> ids;
  Batch batch;
  Data(uint64_t step, uint64_t samples, uint64_t longest) {
    RandomStream random({step});
    for (uint64_t i = 0; i < samples; ++i) {
      auto& row = ids.emplace_back(1 + random.below(longest));
      for (auto& id : row) id = static_cast<uint32_t>(random.below(200));
    }
    batch.step = step;
    for (auto& row : ids) batch.samples.push_back({row, static_cast<uint32_t>(row[0] % 3), {}});
    cut_into_grains(batch, 5, 16384);
  }
};

// Returns the loss, as a mean over the batch.
inline double train_step(Learner& learner, uint64_t step, Executors& crew) {
  const Data data(step, 31, 25);
  GrainLoss total;
  do {
    std::vector<GrainLoss> losses(data.batch.grains());
    learner.begin_step(data.batch, crew.count());
    crew.run(data.batch.grains(), [&](uint64_t grain, unsigned executor) {
      losses[grain] = learner.compute_grains(data.batch, grain, 1, executor)[0];
    });
    total = {};
    for (const auto& part : losses) total.loss += part.loss, total.weight += part.weight;
  } while (!learner.finish_grains(data.batch, crew));
  learner.update(data.batch, 0.01, total.weight, crew);
  return total.loss / total.weight;
}

inline void train_steps(Learner& learner, uint64_t from, uint64_t to, Executors& crew) {
  for (uint64_t step = from; step < to; ++step) train_step(learner, step, crew);
}

inline std::vector<float> values_of(const std::vector<TensorView>& views) {
  std::vector<float> all;
  for (const auto& view : views)
    all.insert(all.end(), view.values, view.values + view.rows * view.row_floats);
  return all;
}

// Of a learner of bert with --freeze 2.
inline void expect_two_frozen_layers(Learner& learner) {
  Executors crew(2);
  const auto before = values_of(learner.model().tensors());
  train_steps(learner, 0, 4, crew);
  const auto views = learner.model().tensors();
  const auto after = values_of(views);
  size_t at = 0;
  for (const auto& view : views) {
    const size_t size = view.rows * view.row_floats;
    const bool same = std::equal(after.begin() + at, after.begin() + at + size, before.begin() + at);
    const bool frozen = view.name.find("embeddings") != std::string::npos ||
                        view.name.find("layer.0.") != std::string::npos ||
                        view.name.find("layer.1.") != std::string::npos;
    // The gradient of a key's bias is 0: a softmax does not see what all its inputs share.
    if (view.name.find("key.bias") == std::string::npos) {
      EXPECT_EQ(same, frozen) << view.name;
    }
    at += size;
  }
}

}  // namespace paceline
