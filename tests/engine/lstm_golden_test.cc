// Model lstm against PyTorch: golden/lstm.safetensors and lstm.json are written by golden/make_lstm.py.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/files.h"
#include "engine/model/tensor_model.h"
#include "engine/optim/learner.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

#ifndef PACELINE_LINKED_KERNELS  // tests/aten compiles this file too
#define PACELINE_LINKED_KERNELS "fused"
#endif
const char* const linked_kernels[] = {PACELINE_LINKED_KERNELS};

const fs::path golden = PACELINE_SOURCE_DIR "/tests/engine/golden";

const Json& golden_json() {
  static const Json json = Json::parse(read_file(golden / "lstm.json"));
  return json;
}
const SafetensorsReader& golden_tensors() {
  static const SafetensorsReader reader(golden / "lstm.safetensors");
  return reader;
}

uint64_t size_of(const std::vector<uint64_t>& shape) {
  uint64_t product = 1;
  for (uint64_t extent : shape) product *= extent;
  return product;
}

std::vector<float> read_golden(const std::string& name, const std::vector<uint64_t>& shape) {
  std::vector<float> values(size_of(shape));
  golden_tensors().read(name, shape, values.data(), values.size(), values.size());
  return values;
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
  options.lstm.kernels = kernels;
  return options;
}

Task task_of(const Json& test) {
  Task task;
  task.labels = test["labels"] == "single" ? LabelKind::single : LabelKind::multiple;
  for (size_t c = 0; c < test["classes"].get<size_t>(); ++c) task.classes.push_back(std::to_string(c));
  task.tokenizer.vocabulary_size = test["vocabulary"];
  task.class_weights = test["class_weights"].get<std::vector<float>>();
  return task;
}

// A batch with the memory that its samples look into.
struct OwnedBatch {
  std::vector<std::vector<uint32_t>> ids;
  std::vector<std::vector<uint8_t>> flags;
  Batch batch;

  OwnedBatch(const Json& source, const Json& grain_begin, uint64_t step) {
    ids = source["ids"].get<std::vector<std::vector<uint32_t>>>();
    const Json& truth = source["truth"];
    flags.resize(ids.size());
    batch.step = step;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool several = truth[i].is_array();
      if (several) flags[i] = truth[i].get<std::vector<uint8_t>>();
      batch.samples.push_back({ids[i], several ? 0 : truth[i].get<uint32_t>(), flags[i]});
      batch.tokens += ids[i].size();
    }
    batch.grain_begin = grain_begin.get<std::vector<uint64_t>>();
  }
};

// The gradients of one grain as dense tensors.
class Gradients : public GradientSink {
 public:
  explicit Gradients(std::span<const Parameter> parameters)
      : parameters_(parameters), taken_(parameters.size()) {
    for (const auto& parameter : parameters) values_.emplace_back(parameter.size());
  }
  void dense(size_t, size_t p, const float* gradient) override {
    EXPECT_FALSE(parameters_[p].rows) << parameters_[p].name;
    std::copy_n(gradient, values_[p].size(), values_[p].begin());
    ++taken_[p];
  }
  void rows(size_t, size_t p, std::span<const uint32_t> ids, const float* gradients) override {
    EXPECT_TRUE(parameters_[p].rows) << parameters_[p].name;
    EXPECT_EQ(std::set<uint32_t>(ids.begin(), ids.end()).size(), ids.size()) << "rows are not distinct";
    const uint64_t width = parameters_[p].shape[1];
    for (size_t i = 0; i < ids.size(); ++i)
      std::copy_n(gradients + i * width, width, values_[p].data() + ids[i] * width);
    ++taken_[p];
  }
  const std::vector<float>& of(size_t p) const { return values_[p]; }
  int times_taken(size_t p) const { return taken_[p]; }

 private:
  std::span<const Parameter> parameters_;
  std::vector<std::vector<float>> values_;
  std::vector<int> taken_;
};

void load_parameters(TensorModel& model, const std::string& prefix) {
  for (const Parameter& parameter : model.parameters())
    golden_tensors().read(prefix + parameter.name, parameter.shape, parameter.values, parameter.size(),
                          parameter.size());
  model.weights_changed();
}

// Within 1e-5 of the tensor's largest value. PyTorch's own float32 stays within 1.5e-6 on these cases.
void expect_close(const std::vector<float>& expected, std::span<const float> found, const std::string& name) {
  ASSERT_EQ(expected.size(), found.size()) << name;
  float largest = 1e-3f;
  for (float value : expected) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_LE(std::fabs(expected[i] - found[i]), 1e-5f * largest)
        << name << "[" << i << "] is " << found[i] << ", expected " << expected[i];
}

class LstmGolden : public testing::TestWithParam<const char*> {
 protected:
  // Calls check(case, prefix of its tensors, model with its parameters) for every case.
  template <typename Check>
  void for_each_case(Check check) {
    const Json& cases = golden_json()["cases"];
    ASSERT_GE(cases.size(), 60u);
    for (size_t n = 0; n < cases.size(); ++n) {
      SCOPED_TRACE(cases[n]["name"].get<std::string>());
      const auto model = make_tensor_model(options_of(cases[n], GetParam()), task_of(cases[n]));
      const std::string prefix = std::to_string(n) + "/";
      load_parameters(*model, prefix);
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
    expect_close(read_golden(prefix + "logits", {texts.size(), classes}), logits, "logits");
  });
}

TEST_P(LstmGolden, LossAndEveryGradientEqualPyTorchsForEveryOption) {
  for_each_case([](const Json& test, const std::string& prefix, const TensorModel& model) {
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    const auto workspace = model.make_workspace();
    const auto parameters = model.parameters();
    for (int attempt = 0; attempt < 2; ++attempt) {  // the second one finds a used workspace
      Gradients gradients(parameters);
      const GrainLoss found = model.compute_grains(data.batch, test["grain"], 1, *workspace, gradients)[0];
      const double loss = test["expected_loss"], weight = test["expected_weight"];
      EXPECT_LE(std::fabs(found.loss - loss), 1e-5 * loss) << found.loss << ", expected " << loss;
      EXPECT_NEAR(found.weight, weight, 1e-6 * weight);
      for (size_t p = 0; p < parameters.size(); ++p) {
        const std::string name = parameters[p].name + ".gradient";
        EXPECT_EQ(gradients.times_taken(p), 1) << name;
        expect_close(read_golden(prefix + name, parameters[p].shape), gradients.of(p), name);
      }
    }
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
  const Json& courses = golden_json()["courses"];
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
    load_parameters(dynamic_cast<TensorLearner&>(*learner).trained(), prefix);

    const uint64_t steps = course["steps"];
    const auto expected = read_golden(prefix + "losses", {steps});
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
