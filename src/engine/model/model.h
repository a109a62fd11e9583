// What the trainer knows of a model.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "base/executors.h"
#include "data/batch/batches.h"
#include "engine/api/options.h"
#include "engine/model/safetensors.h"

namespace paceline {

// What a model must fit: given by the data set when training, by config.json when loading.
struct Task {
  LabelKind labels = LabelKind::single;
  std::vector<std::string> classes;
  TokenizerInfo tokenizer;
  std::vector<float> class_weights;  // empty: all one
};

struct GrainLoss {
  double loss = 0;    // weighted sum over the samples
  double weight = 0;  // what to divide it by
};

// A step is: compute_grain for every grain of the batch, on any executors, then one update. Both must
// depend on the batch and the parameters alone, never on who computed what.
class Model {
 public:
  virtual ~Model() = default;
  // Called once before the grains of a step, from one thread.
  virtual void begin_step(const Batch& batch) = 0;
  virtual GrainLoss compute_grain(const Batch& batch, uint64_t grain) = 0;
  // weight: the sum over all grains, by which gradients are normalised.
  virtual void update(const Batch& batch, double learning_rate, double weight, Executors& executors) = 0;

  // One value per class; safe for several threads.
  virtual void logits(std::span<const uint32_t> ids, std::span<float> out) const = 0;

  virtual nlohmann::ordered_json config() const = 0;
  virtual std::vector<TensorView> tensors() const = 0;
  virtual void load(const SafetensorsReader& reader) = 0;
};

std::unique_ptr<Model> make_model(const TrainOptions& options, const Task& task);

// A model folder: config.json, model.safetensors, vocab.txt.
void save_model(const Model& model, const Task& task, const fs::path& vocabulary, const fs::path& folder);
struct LoadedModel {
  std::unique_ptr<Model> model;
  Task task;
  fs::path folder;
};
// path: a model folder, or a run (then its model/). Throws InputError.
LoadedModel load_model(const fs::path& path);

}  // namespace paceline
