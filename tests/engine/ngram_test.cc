#include "engine/model/ngram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/portable_math.h"
#include "base/random.h"

namespace paceline {
namespace {

Task task_of(LabelKind labels, size_t classes) {
  Task task;
  task.labels = labels;
  for (size_t c = 0; c < classes; ++c) task.classes.push_back(std::to_string(c));
  task.tokenizer.vocabulary_size = 30;
  return task;
}

TrainOptions options_of(const NgramOptions& ngram, uint64_t max_length, uint64_t seed) {
  TrainOptions options;
  options.ngram = ngram;
  options.max_length = max_length;
  options.seed = seed;
  return options;
}

struct Data {
  std::vector<std::vector<uint32_t>> ids;
  std::vector<std::vector<uint8_t>> flags;
  Batch batch;
  Data(uint64_t samples, size_t classes, uint64_t grain) {
    RandomStream random({samples, grain * 0});
    for (uint64_t i = 0; i < samples; ++i) {
      auto& row = ids.emplace_back(1 + random.below(12));
      for (auto& id : row) id = static_cast<uint32_t>(random.below(30));
      auto& flag = flags.emplace_back(classes);
      for (auto& f : flag) f = static_cast<uint8_t>(random.below(2));
    }
    for (uint64_t i = 0; i < samples; ++i)
      batch.samples.push_back({ids[i], static_cast<uint32_t>(random.below(classes)), flags[i]});
    cut_into_grains(batch, grain, 16384);
  }
};

double step(NgramModel& model, const Batch& batch, Executors& executors, double rate) {
  std::vector<GrainLoss> losses(batch.grains());
  model.begin_step(batch, executors.count());
  executors.run(batch.grains(),
                [&](uint64_t g, unsigned e) { losses[g] = model.compute_grains(batch, g, 1, e)[0]; });
  GrainLoss total;
  for (auto& part : losses) total.loss += part.loss, total.weight += part.weight;
  EXPECT_TRUE(model.finish_grains(batch, executors));
  model.update(batch, rate, total.weight, executors);
  return total.loss / total.weight;
}

std::vector<float> values_of(const Model& model) {
  std::vector<float> all;
  for (const auto& tensor : model.tensors())
    for (uint64_t r = 0; r < tensor.rows; ++r)
      all.insert(all.end(), tensor.values + r * tensor.stride,
                 tensor.values + r * tensor.stride + tensor.row_floats);
  return all;
}

double loss_of(const Model& model, const Data& data, const Task& task) {
  double loss = 0, weight = 0;
  std::vector<float> logits(task.classes.size());
  for (size_t i = 0; i < data.ids.size(); ++i) {
    const Sample& sample = data.batch.samples[i];
    const Text text(sample.ids);
    model.logits(std::span(&text, 1), logits);
    if (task.labels == LabelKind::multiple) {
      for (size_t c = 0; c < logits.size(); ++c) {
        const double p = 1 / (1 + std::exp(-static_cast<double>(logits[c])));
        loss -= std::log(sample.flags[c] ? p : 1 - p) / static_cast<double>(logits.size());
      }
      weight += 1;
    } else {
      double sum = 0;
      for (float v : logits) sum += std::exp(v);
      const uint32_t label = sample.label;
      const double w = task.class_weights.empty() ? 1 : task.class_weights[label];
      loss += w * (std::log(sum) - logits[label]);
      weight += w;
    }
  }
  return loss / weight;
}

// Three workers, as the exchange would add them up; one of them has no grain.
TEST(Ngram, SeveralWorkersMakeTheUpdateOfOne) {
  const Task task = task_of(LabelKind::single, 3);
  const Data data(40, 3, 4);
  Executors one(1);
  NgramModel alone(options_of({4, 3, 50}, 0, 1), task);
  std::vector<std::unique_ptr<NgramModel>> workers;
  for (int w = 0; w < 3; ++w)
    workers.push_back(std::make_unique<NgramModel>(options_of({4, 3, 50}, 0, 1), task));
  for (int i = 0; i < 4; ++i) {
    step(alone, data.batch, one, 0.3);
    double weight = 0;
    for (auto& worker : workers) worker->begin_step(data.batch, 1);
    for (uint64_t g = 0; g < data.batch.grains(); ++g)
      weight += workers[g % 3 == 0 ? 0 : 2]->compute_grains(data.batch, g, 1, 0)[0].weight;
    std::vector<std::span<int32_t>> parts;
    for (auto& worker : workers) parts.push_back(worker->gather(data.batch, 0));
    for (size_t k = 0; k < parts[0].size(); ++k) {
      const int32_t sum = parts[0][k] + parts[1][k] + parts[2][k];
      for (auto& part : parts) part[k] = sum;
    }
    for (auto& worker : workers) {
      worker->finish_grains(data.batch, one);
      worker->update(data.batch, 0.3, weight, one);
    }
  }
  for (auto& worker : workers) EXPECT_EQ(values_of(*worker), values_of(alone));
}

TEST(Ngram, LossIsTheLossOfItsLogits) {
  for (auto kind : {LabelKind::single, LabelKind::multiple}) {
    Task task = task_of(kind, 3);
    if (kind == LabelKind::single) task.class_weights = {1, 2.5f, 0.5f};
    NgramModel model(options_of({4, 2, 50}, 0, 1), task);
    Data data(20, 3, 6);
    Executors one(1);
    for (int i = 0; i < 5; ++i) step(model, data.batch, one, 0.1);
    const double expected = loss_of(model, data, task);
    EXPECT_NEAR(step(model, data.batch, one, 0.1), expected, 1e-6);
  }
}

// The first Adagrad step moves a row by rate * gradient / rms(gradient): its direction is the gradient's.
TEST(Ngram, UpdatesFollowTheGradientOfTheLoss) {
  const Task task = task_of(LabelKind::single, 3);
  Data data(16, 3, 4);
  Executors one(1);
  auto prepared = [&] {
    auto model = std::make_unique<NgramModel>(options_of({4, 2, 50}, 0, 7), task);
    step(*model, data.batch, one, 0.5);  // output weights are zero before it, and so are the rows' gradients
    return model;
  };
  const auto before = prepared(), after = prepared();
  const double loss = loss_of(*before, data, task);
  step(*after, data.batch, one, 1e-4);
  const auto a = values_of(*before), b = values_of(*after);
  double predicted = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    auto nudged = prepared();
    size_t position = i;
    for (auto& tensor : nudged->tensors()) {
      if (position < tensor.rows * tensor.row_floats) {
        const_cast<float*>(
            tensor.values)[position / tensor.row_floats * tensor.stride + position % tensor.row_floats] +=
            1e-2f;
        break;
      }
      position -= tensor.rows * tensor.row_floats;
    }
    const double slope = (loss_of(*nudged, data, task) - loss) / 1e-2;
    predicted += slope * (static_cast<double>(b[i]) - a[i]);
    if (std::fabs(slope) > 1e-3) {
      EXPECT_LT(slope * (b[i] - a[i]), 0) << i;
    }
  }
  EXPECT_NEAR(loss_of(*after, data, task) - loss, predicted, std::fabs(predicted) * 0.05);
}

TEST(Ngram, SameBitsForAnyExecutorsAndGrains) {
  for (auto kind : {LabelKind::single, LabelKind::multiple}) {
    std::vector<std::vector<float>> results;
    for (unsigned executors : {1u, 2u, 3u, 5u})
      for (uint64_t grain : {1u, 8u, 64u}) {
        Task task = task_of(kind, 4);
        task.class_weights = {1, 2, 0.5f, 3};
        NgramModel model(options_of({10, 3, 1000}, 0, 3), task);
        Executors crew(executors);
        for (uint64_t s = 0; s < 10; ++s) {
          Data data(64 + s, 4, grain);
          step(model, data.batch, crew, 0.2);
        }
        results.push_back(values_of(model));
      }
    for (const auto& result : results) EXPECT_TRUE(result == results[0]);
  }
}

TEST(Ngram, RowsAreWordsThenHashedRuns) {
  NgramModel model(options_of({4, 3, 1000}, 5, 1), task_of(LabelKind::single, 2));
  const std::vector<uint32_t> ids = {1, 2, 3, 1, 2, 9, 9, 9};
  std::vector<uint32_t> rows;
  model.rows_of(ids, rows);
  ASSERT_EQ(rows.size(), 5u + 4 + 3);  // --max-length 5: words, pairs, triples
  EXPECT_EQ((std::vector<uint32_t>(rows.begin(), rows.begin() + 5)), (std::vector<uint32_t>{1, 2, 3, 1, 2}));
  EXPECT_EQ(rows[5], rows[11]);  // the pair (1, 2) at both places: runs go by their first word
  for (size_t i = 5; i < rows.size(); ++i) EXPECT_TRUE(rows[i] >= 30 && rows[i] < 1030);
}

TEST(PortableMath, AgreesWithTheLibrary) {
  for (double x = -690; x < 690; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 4e-15) << x;
  for (double x = 1e-30; x < 1e30; x *= 1.7)
    EXPECT_NEAR(portable_log(x), std::log(x), 1e-15 * (1 + std::fabs(std::log(x)))) << x;
}

}  // namespace
}  // namespace paceline
