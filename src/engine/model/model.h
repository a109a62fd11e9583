// What the rest of the engine knows of a model.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "data/batch/batches.h"
#include "engine/api/options.h"
#include "engine/model/masking.h"
#include "engine/model/safetensors.h"
#include "engine/model/text.h"

namespace paceline {

// What a model must fit: given by the data set when training, by config.json when loading.
struct Task {
  LabelKind labels = LabelKind::single;  // none: the model guesses masked pieces, and has no classes
  std::vector<std::string> classes;
  TokenizerInfo tokenizer;
  std::vector<float> class_weights;                    // empty: all one
  uint64_t max_length = 0;                             // tokens of a text that are used; 0: all
  std::shared_ptr<const PieceKinds> pieces = nullptr;  // where pieces are hidden in training

  bool guesses_pieces() const { return labels == LabelKind::none; }
};
// The kinds of its pieces, from the vocabulary in the folder. Throws InputError.
void load_pieces(Task& task, const fs::path& folder);

// What evaluate and predict need.
class Model {
 public:
  virtual ~Model() = default;
  // One row of classes() values a text, with the same bits whatever texts stand beside it. Safe for
  // several threads. Texts of similar length next to each other are fastest.
  virtual void logits(std::span<const Text> texts, std::span<float> out) const = 0;
  virtual nlohmann::ordered_json config() const = 0;
  virtual std::vector<TensorView> tensors() const = 0;
  // Throws InputError when a tensor is missing or has another shape.
  virtual void load(const SafetensorsReader& reader) = 0;
};

std::unique_ptr<Model> make_model(const TrainOptions& options, const Task& task);

// A model folder: config.json, model.safetensors, vocab.txt. Replaces the folder as a whole: there is
// the old one or the new one at any moment.
void save_model(const Model& model, const Task& task, const fs::path& vocabulary, const fs::path& folder);
struct LoadedModel {
  std::unique_ptr<Model> model;
  Task task;
  fs::path folder;
};
// path: a model folder, or a run (then its model/). Throws InputError.
LoadedModel load_model(const fs::path& path);

}  // namespace paceline
