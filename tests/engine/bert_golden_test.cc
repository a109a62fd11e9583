// Model bert against transformers and PyTorch: golden/bert.safetensors and bert.json are written by
// golden/make_bert.py.
#include <gtest/gtest.h>

#include "engine/model/bert.h"
#include "golden_cases.h"

namespace paceline {
namespace {

#ifndef PACELINE_LINKED_KERNELS  // tests/aten compiles this file too
#define PACELINE_LINKED_KERNELS "fused"
#endif
const std::string kernels = PACELINE_LINKED_KERNELS;

const Golden& golden() {
  static const Golden bert("bert");
  return bert;
}

TrainOptions options_of(const Json& test, bool recompute) {
  TrainOptions options = bert_options_of(test, recompute);
  options.loss = test["loss"];
  options.focal_gamma = test["focal_gamma"];
  options.bert.classifier_dropout = test["classifier_dropout"];
  options.kernels = kernels;
  return options;
}

// Calls check(case, prefix of its tensors, model with its parameters) for every case.
template <typename Check>
void for_each_case(bool recompute, Check check) {
  const Json& cases = golden().json()["cases"];
  ASSERT_GE(cases.size(), 28u);
  for (size_t n = 0; n < cases.size(); ++n) {
    SCOPED_TRACE(cases[n]["name"].get<std::string>());
    const auto model = make_tensor_model(options_of(cases[n], recompute), task_of(cases[n]));
    const std::string prefix = std::to_string(n) + "/";
    golden().load_parameters(*model, prefix);
    check(cases[n], prefix, *model);
  }
}

TEST(BertGolden, LogitsEqualTransformersForEveryOption) {
  for_each_case(false, [](const Json& test, const std::string& prefix, const TensorModel& model) {
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    std::vector<Text> texts;
    for (const Sample& sample : data.batch.grain(test["grain"]))
      texts.push_back({sample.ids, sample.second_begin});
    const uint64_t classes = test["classes"];
    std::vector<float> logits(texts.size() * classes);
    model.logits(texts, logits);
    expect_close(golden().read(prefix + "logits", {texts.size(), classes}), logits, "logits");
  });
}

TEST(BertGolden, WhatEveryLayerSaysAboutEveryTokenEqualsTransformers) {
  if (kernels != "fused") GTEST_SKIP() << "LibTorch's operations are not asked for hidden states";
  for_each_case(false, [](const Json& test, const std::string& prefix, const TensorModel& model) {
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    const Sample& sample = data.batch.grain(test["grain"])[0];
    const auto states = dynamic_cast<const BertModel&>(model).states({sample.ids, sample.second_begin});
    expect_close(golden().read(prefix + "states", {test["layers"], sample.ids.size(), test["hidden"]}),
                 states, "states");
  });
}

constexpr float tolerance = 3e-5f;  // PyTorch's own float32 is off by up to 2.2e-5 on these cases

class BertGradients : public testing::TestWithParam<bool> {};  // whether layers are computed again

TEST_P(BertGradients, LossAndEveryGradientEqualTransformersForEveryOption) {
  for_each_case(GetParam(), [](const Json& test, const std::string& prefix, const TensorModel& model) {
    // The gradient of a key's bias is 0 but for rounding: a softmax does not see what all its inputs share.
    // The weight of the same layer stands before it.
    const auto scale = [](const std::string& name, const Gradients& gradients, size_t p) {
      return name.ends_with("key.bias.gradient") ? largest_of(gradients.of(p - 1)) : 0.f;
    };
    expect_loss_and_gradients(golden(), test, prefix, model, tolerance, scale);
  });
}

// LibTorch's autograd keeps them.
constexpr std::array<bool, 2> ways = {false, true};
INSTANTIATE_TEST_SUITE_P(Layers, BertGradients,
                         testing::ValuesIn(ways.begin(), ways.end() - (kernels == "fused" ? 0 : 1)),
                         [](const auto& test) { return test.param ? "Recomputed" : "Kept"; });

TEST(BertGolden, TheOrderOfGradientsIsTheOneThatIsPromised) {
  for_each_case(false, [](const Json&, const std::string&, const TensorModel& model) {
    std::vector<size_t> order = model.gradient_order();
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), model.parameters().size());
    for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  });
}

}  // namespace
}  // namespace paceline
