// Model lstm against PyTorch: golden/lstm.safetensors and lstm.json are written by golden/make_lstm.py.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/optim/learner.h"
#include "golden_cases.h"

namespace paceline {
namespace {

#ifndef PACELINE_LINKED_KERNELS  // tests/aten compiles this file too
#define PACELINE_LINKED_KERNELS "fused"
#endif
const char* const linked_kernels[] = {PACELINE_LINKED_KERNELS};

const Golden& golden() {
  static const Golden lstm("lstm");
  return lstm;
}

TrainOptions options_of(const Json& test, const std::string& kernels) {
  TrainOptions options;
  options.model = "lstm";
  options.seed = test["seed"];
  options.loss = test["loss"];
  options.focal_gamma = test["focal_gamma"];
  options.lstm.cell = test["cell"];
  options.lstm.embedding = test["embedding"];
  options.lstm.hidden = test["hidden"];
  options.lstm.layers = test["layers"];
  options.lstm.bidirectional = test["bidirectional"];
  options.lstm.pooling = test["pooling"];
  options.lstm.word_dropout = test["word_dropout"];
  options.lstm.embedding_dropout = test["embedding_dropout"];
  options.lstm.recurrent_dropout = test["recurrent_dropout"];
  options.lstm.layer_dropout = test["layer_dropout"];
  options.lstm.output_dropout = test["output_dropout"];
  options.kernels = kernels;
  return options;
}

class LstmGolden : public testing::TestWithParam<const char*> {
 protected:
  // Calls check(case, prefix of its tensors, model with its parameters) for every case.
  template <typename Check>
  void for_each_case(Check check) {
    const Json& cases = golden().json()["cases"];
    ASSERT_GE(cases.size(), 60u);
    for (size_t n = 0; n < cases.size(); ++n) {
      SCOPED_TRACE(cases[n]["name"].get<std::string>());
      const auto model = make_tensor_model(options_of(cases[n], GetParam()), task_of(cases[n]));
      const std::string prefix = std::to_string(n) + "/";
      golden().load_parameters(*model, prefix);
      check(cases[n], prefix, *model);
    }
  }
};

TEST_P(LstmGolden, LogitsEqualPyTorchsForEveryOption) {
  for_each_case([](const Json& test, const std::string& prefix, const TensorModel& model) {
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    std::vector<Text> texts;
    for (const Sample& sample : data.batch.grain(test["grain"])) texts.push_back(sample.ids);
    const uint64_t classes = test["classes"];
    std::vector<float> logits(texts.size() * classes);
    model.logits(texts, logits);
    expect_close(golden().read(prefix + "logits", {texts.size(), classes}), logits, "logits");
  });
}

TEST_P(LstmGolden, LossAndEveryGradientEqualPyTorchsForEveryOption) {
  for_each_case([](const Json& test, const std::string& prefix, const TensorModel& model) {
    expect_loss_and_gradients(golden(), test, prefix, model, 1e-5f,
                              [](const std::string&, const Gradients&, size_t) { return 0.f; });
  });
}

// The loss of one step of training, as a mean over the batch.
double train_step(Learner& learner, const Batch& batch, double learning_rate, Executors& executors) {
  std::vector<GrainLoss> losses(batch.grains());
  do {
    learner.begin_step(batch, executors.count());
    executors.run(batch.grains(), [&](uint64_t grain, unsigned executor) {
      losses[grain] = learner.compute_grains(batch, grain, 1, executor)[0];
    });
  } while (!learner.finish_grains(batch, executors));
  GrainLoss total;
  for (const auto& part : losses) total.loss += part.loss, total.weight += part.weight;
  learner.update(batch, learning_rate, total.weight, executors);
  return total.loss / total.weight;
}

TEST_P(LstmGolden, TrainingFollowsPyTorchsLossStepByStep) {
  const Json& courses = golden().json()["courses"];
  ASSERT_EQ(courses.size(), 3u);
  for (size_t n = 0; n < courses.size(); ++n) {
    const Json& course = courses[n];
    SCOPED_TRACE(course["name"].get<std::string>());
    Executors executors(2);
    TrainOptions options = options_of(course, GetParam());
    options.optimizer = course["optimizer"];
    options.learning_rate = course["learning_rate"];
    options.momentum = course["momentum"];
    options.weight_decay = course["weight_decay"];
    options.clip = course["clip"];
    options.embedding_update = "dense";
    const auto learner = make_learner(options, task_of(course));
    const std::string prefix = fmt::format("course {}/", n);
    golden().load_parameters(dynamic_cast<TensorLearner&>(*learner).trained(), prefix);

    const uint64_t steps = course["steps"];
    const auto expected = golden().read(prefix + "losses", {steps});
    const Json& batches = course["batches"];
    for (uint64_t step = 0; step < steps; ++step) {
      const OwnedBatch data(batches[step % batches.size()], course["grain_begin"], step);
      const double loss = train_step(*learner, data.batch, options.learning_rate, executors);
      // PyTorch's float32 stays within 1.5e-6 of its float64 on these courses; the rest is room for
      // another order of operations and for the fixed point of the exact sum.
      ASSERT_LE(std::fabs(loss - expected[step]), 2e-5 * expected[step])
          << "step " << step << ": " << loss << ", expected " << expected[step];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LstmGolden, testing::ValuesIn(linked_kernels),
                         [](const auto& kernels) { return std::string(kernels.param); });

}  // namespace
}  // namespace paceline
