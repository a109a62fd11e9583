// Shared by the tests against golden files: cases, their batches, and gradients as PyTorch has them.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/files.h"
#include "engine/model/tensor_model.h"

namespace paceline {

using Json = nlohmann::ordered_json;

// NAME.json and NAME.safetensors of tests/engine/golden.
class Golden {
 public:
  explicit Golden(const std::string& name)
      : json_(Json::parse(read_file(folder() / (name + ".json")))),
        tensors_(folder() / (name + ".safetensors")) {}
  static fs::path folder() { return PACELINE_SOURCE_DIR "/tests/engine/golden"; }
  const Json& json() const { return json_; }

  std::vector<float> read(const std::string& name, const std::vector<uint64_t>& shape) const {
    uint64_t size = 1;
    for (uint64_t extent : shape) size *= extent;
    std::vector<float> values(size);
    tensors_.read(name, shape, values.data(), values.size(), values.size());
    return values;
  }

  // views: of the model, whose memory is written.
  void load_parameters(TensorModel& model, const std::string& prefix) const {
    for (const TensorView& view : model.tensors())
      tensors_.read(prefix + view.name, view.shape, const_cast<float*>(view.values), view.row_floats,
                    view.stride);
    model.weights_changed();
  }

 private:
  Json json_;
  SafetensorsReader tensors_;
};

inline Task task_of(const Json& test) {
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
      const uint32_t second =
          source.contains("second_begins") ? source["second_begins"][i].get<uint32_t>() : 0;
      batch.samples.push_back({ids[i], several ? 0 : truth[i].get<uint32_t>(), flags[i], second});
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
  void block(size_t, size_t p, const MatrixBlock& block) override {
    const uint64_t width = parameters_[p].shape[1];
    for (size_t r = 0; r < block.rows; ++r)
      std::copy_n(block.values + r * block.stride, block.columns,
                  values_[p].data() + (block.row + r) * width + block.column);
    if (block.last) ++taken_[p];
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

inline float largest_of(std::span<const float> values) {
  float largest = 1e-3f;
  for (float value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

// Within tolerance of the tensor's largest value, or of a larger scale. PyTorch's own float32 stays
// within 1.5e-6 on the cases of lstm.
inline void expect_close(const std::vector<float>& expected, std::span<const float> found,
                         const std::string& name, float tolerance = 1e-5f, float scale = 0) {
  ASSERT_EQ(expected.size(), found.size()) << name;
  const float largest = std::max(scale, largest_of(expected));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_LE(std::fabs(expected[i] - found[i]), tolerance * largest)
        << name << "[" << i << "] is " << found[i] << ", expected " << expected[i];
}

// The model's loss and every gradient on the case's grain. scale_of: a scale for a parameter's gradient that
// is larger than its own largest value, or 0.
template <typename ScaleOf>
void expect_loss_and_gradients(const Golden& golden, const Json& test, const std::string& prefix,
                               const TensorModel& model, float tolerance, const ScaleOf& scale_of) {
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
      expect_close(golden.read(prefix + name, parameters[p].shape), gradients.of(p), name, tolerance,
                   scale_of(name, gradients, p));
    }
  }
}

// What every case of bert has, whatever its head.
inline TrainOptions bert_options_of(const Json& test, bool recompute) {
  TrainOptions options = default_train_options("bert");
  options.seed = test["seed"];
  BertOptions& bert = options.bert;
  bert.hidden = test["hidden"];
  bert.layers = test["layers"];
  bert.heads = test["heads"];
  bert.intermediate = test["intermediate"];
  bert.positions = test["positions"];
  bert.types = test["types"];
  bert.vocabulary = test["vocabulary"];
  bert.activation = test["activation"];
  bert.norm_epsilon = test["norm_epsilon"];
  bert.hidden_dropout = test["hidden_dropout"];
  bert.attention_dropout = test["attention_dropout"];
  bert.freeze = test["freeze"];
  bert.recompute = recompute;
  return options;
}

}  // namespace paceline
