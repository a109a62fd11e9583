#include "engine/optim/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "engine/model/parameter_store.h"

namespace paceline {
namespace {

// A model whose gradients are whatever the test says.
class FakeModel final : public TensorModel {
 public:
  FakeModel() {
    store_.add("weight", {5, 7}, true);
    store_.add_rows("table", 1000, 3);
    store_.allocate();
  }
  std::span<const Parameter> parameters() const override { return store_.all(); }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Workspace>(); }
  std::vector<GrainLoss> compute_grains(const Batch&, uint64_t, uint64_t, Workspace&,
                                        GradientSink&) const override {
    return {};
  }
  uint64_t grain_bytes(uint64_t, uint64_t) const override { return 0; }
  void touched_rows(const Batch& batch, size_t, std::vector<uint32_t>& ids) const override {
    for (const Sample& sample : batch.samples) ids.insert(ids.end(), sample.ids.begin(), sample.ids.end());
  }
  void logits(std::span<const Text>, std::span<float>) const override {}
  nlohmann::ordered_json config() const override { return {}; }

 private:
  ParameterStore store_;
};

struct Grain {
  std::vector<float> weight;
  std::vector<uint32_t> ids;
  std::vector<float> rows;
};

std::vector<Grain> random_grains(uint64_t seed, size_t count, double size) {
  RandomStream random({seed});
  std::vector<Grain> grains(count);
  for (auto& grain : grains) {
    for (int i = 0; i < 35; ++i) grain.weight.push_back(static_cast<float>(size * (random.uniform() - 0.5)));
    for (uint32_t id = 0; id < 1000; ++id)
      if (random.below(40) == 0 || id == 7) grain.ids.push_back(id);
    for (size_t i = 0; i < grain.ids.size() * 3; ++i) {
      // Row 7 is in every grain and large; the others are rare and small.
      const double scale = grain.ids[i / 3] == 7 ? size : size / 300;
      grain.rows.push_back(static_cast<float>(scale * (random.uniform() - 0.5)));
    }
  }
  return grains;
}

struct OwnedBatch {
  Batch batch;
  explicit OwnedBatch(const std::vector<Grain>& grains) {
    for (const auto& grain : grains) {
      batch.samples.push_back({grain.ids, 0, {}});
      batch.grain_begin.push_back(batch.samples.size());
    }
  }
};

// One attempt after another until one holds; grain g goes to executor owner(g).
template <class Owner>
int run(ExactSum& sum, const std::vector<Grain>& grains, unsigned executors, const Owner& owner) {
  const OwnedBatch data(grains);
  for (int attempt = 1;; ++attempt) {
    sum.begin(data.batch, executors);
    for (size_t g = 0; g < grains.size(); ++g) {
      GradientSink& sink = sum.sink(owner(g), 1);
      sink.dense(0, 0, grains[g].weight.data());
      sink.rows(0, 1, grains[g].ids, grains[g].rows.data());
    }
    if (sum.finish(0)) return attempt;
  }
}

std::vector<float> result_of(ExactSum& sum, double factor) {
  Executors crew(2);
  sum.combine(factor, crew);
  std::vector<float> all(sum.gradient(0), sum.gradient(0) + 35);
  for (uint32_t row = 0; row < 1000; ++row)
    for (int j = 0; j < 3; ++j) {
      const float* gradient = sum.row_gradient(1, row);
      all.push_back(gradient ? gradient[j] : 0);
    }
  return all;
}

TEST(ExactSum, WhoeverAddsWhatTheBitsAreTheSame) {
  const FakeModel model;
  const auto grains = random_grains(1, 16, 0.01);
  std::vector<std::vector<float>> results;
  for (unsigned executors : {1u, 2u, 3u, 5u})
    for (uint64_t seed : {1, 2, 3}) {
      ExactSum sum(model, true);
      RandomStream random({seed});
      run(sum, grains, executors, [&](size_t) { return static_cast<unsigned>(random.below(executors)); });
      results.push_back(result_of(sum, 0.25));
    }
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

// Three workers with two executors each, as the exchange would add them up.
TEST(ExactSum, SumsOfSeveralWorkersAreThoseOfOne) {
  const FakeModel model;
  const auto grains = random_grains(4, 16, 0.01);
  ExactSum alone(model, true);
  run(alone, grains, 1, [](size_t) { return 0u; });
  const auto expected = result_of(alone, 0.25);

  const OwnedBatch data(grains);
  std::vector<std::unique_ptr<ExactSum>> workers;
  for (int w = 0; w < 3; ++w) workers.push_back(std::make_unique<ExactSum>(model, true));
  for (bool good = false; !good;) {
    for (auto& worker : workers) worker->begin(data.batch, 2);
    for (size_t g = 0; g < grains.size(); ++g) {
      GradientSink& sink = workers[g % 5 == 0 ? 0 : 2]->sink(g % 2, 1);  // worker 1 has no grain
      sink.dense(0, 0, grains[g].weight.data());
      sink.rows(0, 1, grains[g].ids, grains[g].rows.data());
    }
    ASSERT_EQ(workers[0]->buckets(), 2u);
    for (size_t bucket = 0; bucket < 2; ++bucket) {
      std::vector<std::span<int32_t>> parts;
      for (auto& worker : workers) parts.push_back(worker->gather(bucket));
      for (size_t i = 0; i < parts[0].size(); ++i) {
        const int32_t sum = parts[0][i] + parts[1][i] + parts[2][i];
        for (auto& part : parts) part[i] = sum;
      }
    }
    std::vector<std::span<uint32_t>> maxima;
    for (auto& worker : workers) maxima.push_back(worker->maxima());
    for (size_t i = 0; i < maxima[0].size(); ++i) {
      const uint32_t largest = std::max({maxima[0][i], maxima[1][i], maxima[2][i]});
      for (auto& part : maxima) part[i] = largest;
    }
    for (auto& worker : workers) good = worker->finish(0);
  }
  for (auto& worker : workers) EXPECT_EQ(result_of(*worker, 0.25), expected);
}

TEST(ExactSum, AgreesWithFloat64AlsoOnRareSmallRows) {
  const FakeModel model;
  const auto grains = random_grains(2, 16, 0.02);
  ExactSum sum(model, true);
  EXPECT_EQ(run(sum, grains, 2, [](size_t g) { return static_cast<unsigned>(g % 2); }), 2);
  const auto result = result_of(sum, 1);
  std::vector<double> expected(35 + 3000, 0);
  for (const auto& grain : grains) {
    for (size_t i = 0; i < 35; ++i) expected[i] += grain.weight[i];
    for (size_t i = 0; i < grain.rows.size(); ++i)
      expected[35 + grain.ids[i / 3] * 3 + i % 3] += grain.rows[i];
  }
  double rare_error = 0, rare_size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result[i], expected[i], 0.02 * 3e-7) << i;
    if (i < 35 || (i >= 35 + 21 && i < 35 + 24)) continue;
    rare_error += std::pow(result[i] - expected[i], 2);
    rare_size += std::pow(expected[i], 2);
  }
  EXPECT_LT(std::sqrt(rare_error / rare_size), 1e-4);  // of rows 300 times smaller than the largest
}

TEST(ExactSum, TheFirstAttemptCalibratesAndSteadyGradientsAreNeverRepeated) {
  const FakeModel model;
  ExactSum sum(model, true);
  EXPECT_EQ(run(sum, random_grains(0, 8, 1), 1, [](size_t) { return 0u; }), 2);
  for (uint64_t step = 1; step < 50; ++step)
    EXPECT_EQ(run(sum, random_grains(step, 8, 1), 1, [](size_t) { return 0u; }), 1) << step;
}

TEST(ExactSum, AGradientThatLeavesTheRangeRepeatsTheStepWithAnotherScale) {
  const FakeModel model;
  ExactSum sum(model, true), fresh(model, true);
  run(sum, random_grains(1, 8, 1e-3), 1, [](size_t) { return 0u; });
  const auto jump = random_grains(2, 8, 100);
  EXPECT_EQ(run(sum, jump, 2, [](size_t g) { return static_cast<unsigned>(g % 2); }), 2);
  run(fresh, jump, 1, [](size_t) { return 0u; });
  EXPECT_EQ(result_of(sum, 1), result_of(fresh, 1));
}

TEST(ExactSum, NotANumberNamesStepAndTensor) {
  const FakeModel model;
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    auto grains = random_grains(1, 4, 1);
    grains[2].rows[1] = bad;
    ExactSum sum(model, true);
    const OwnedBatch data(grains);
    sum.begin(data.batch, 1);
    for (const auto& grain : grains) {
      sum.sink(0, 1).dense(0, 0, grain.weight.data());
      sum.sink(0, 1).rows(0, 1, grain.ids, grain.rows.data());
    }
    try {
      sum.finish(41);
      FAIL() << "no error";
    } catch (const WorkError& error) {
      EXPECT_STREQ(error.what(), "step 42: the gradient of table is not a finite number");
    }
  }
}

TEST(ExactSum, ATensorWithoutGradientSoFarIsCalibratedWhenItHasOne) {
  const FakeModel model;
  auto grains = random_grains(1, 4, 1);
  for (auto& grain : grains) std::fill(grain.weight.begin(), grain.weight.end(), 0.f);
  ExactSum sum(model, true);
  run(sum, grains, 1, [](size_t) { return 0u; });
  for (auto& grain : grains) std::fill(grain.weight.begin(), grain.weight.end(), 1e-12f);
  EXPECT_EQ(run(sum, grains, 1, [](size_t) { return 0u; }), 2);
  Executors one(1);
  sum.combine(1, one);
  EXPECT_NEAR(sum.gradient(0)[0] / 4e-12, 1, 1e-6);
}

TEST(ExactSum, ScalesSurviveACheckpoint) {
  const FakeModel model;
  ExactSum sum(model, true), loaded(model, true);
  run(sum, random_grains(1, 8, 3), 1, [](size_t) { return 0u; });
  loaded.load_scales(nlohmann::json::parse(sum.scales().dump()));
  const auto next = random_grains(2, 8, 2);
  EXPECT_EQ(run(sum, next, 1, [](size_t) { return 0u; }), 1);
  EXPECT_EQ(run(loaded, next, 1, [](size_t) { return 0u; }), 1);
  EXPECT_EQ(result_of(sum, 1), result_of(loaded, 1));
  EXPECT_EQ(sum.scales(), loaded.scales());
}

}  // namespace
}  // namespace paceline
