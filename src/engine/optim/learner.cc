#include "engine/optim/learner.h"

#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "engine/kernels/gradient_loops.h"
#include "engine/model/ngram.h"
#include "engine/model/word_vectors.h"

namespace paceline {

TensorLearner::TensorLearner(const TrainOptions& options, const Task& task)
    : options_(options),
      model_(make_tensor_model(options, task)),
      averaged_(options.ema > 0 ? make_tensor_model(options, task) : nullptr),
      sum_(*model_, options.sum == "exact"),
      optimizer_(options, *model_) {}

void TensorLearner::begin_step(const Batch& batch, unsigned executors) {
  sum_.begin(batch, executors);
  if (workspaces_.size() < executors) workspaces_.resize(executors);
}

std::vector<GrainLoss> TensorLearner::compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                     unsigned executor) {
  auto& workspace = workspaces_[executor];
  if (!workspace) workspace = model_->make_workspace();
  return model_->compute_grains(batch, first, count, *workspace, sum_.sink(executor, count));
}

namespace {

// Folds gradients into one number instead of adding them.
class HashSink final : public GradientSink {
 public:
  explicit HashSink(std::span<const Parameter> parameters) : parameters_(parameters) {}
  void dense(size_t, size_t parameter, const float* gradient) override {
    fold(gradient, parameters_[parameter].size());
  }
  void block(size_t, size_t, const MatrixBlock& block) override {
    for (size_t r = 0; r < block.rows; ++r) fold(block.values + r * block.stride, block.columns);
  }
  void rows(size_t, size_t parameter, std::span<const uint32_t> ids, const float* gradients) override {
    fold(gradients, ids.size() * parameters_[parameter].shape[1]);
  }
  uint64_t hash() const { return hash_; }

 private:
  void fold(const float* values, size_t count) {
    hash_ = hash64({reinterpret_cast<const char*>(values), count * sizeof(float)}, hash_);
  }
  std::span<const Parameter> parameters_;
  uint64_t hash_ = 0;
};

}  // namespace

uint64_t TensorLearner::probe(const Batch& batch) {
  HashSink sink(model_->parameters());
  const auto workspace = model_->make_workspace();
  model_->compute_grains(batch, 0, 1, *workspace, sink);
  return sink.hash();
}

bool TensorLearner::finish_grains(const Batch& batch, Executors&) { return sum_.finish(batch.step); }

UpdateFacts TensorLearner::update(const Batch& batch, double learning_rate, double weight,
                                  Executors& executors) {
  UpdateFacts facts;
  facts.gradient_norm = std::sqrt(sum_.combine(1 / weight, executors));
  double factor = 1;
  if (options_.clip > 0) factor = std::min(1.0, options_.clip / (facts.gradient_norm + 1e-6));
  optimizer_.step(learning_rate, factor, sum_, executors);
  executors.run(model_->parts_to_prepare(), [&](uint64_t part, unsigned) { model_->prepare(part); });
  if (averaged_) average(batch.step, executors);
  return facts;
}

void TensorLearner::average(uint64_t step, Executors& executors) {
  // A young average forgets its random start faster.
  const double t = static_cast<double>(step + 1), decay = std::min(options_.ema, (1 + t) / (10 + t));
  const auto from = model_->parameters(), to = averaged_->parameters();
  constexpr uint64_t chunk = 1 << 16;
  std::vector<std::pair<size_t, uint64_t>> tasks;
  for (size_t i = 0; i < from.size(); ++i)
    for (uint64_t first = 0; first < from[i].size(); first += chunk) tasks.emplace_back(i, first);
  executors.run(tasks.size(), [&](uint64_t number, unsigned) {
    const auto [i, first] = tasks[number];
    move_average(static_cast<float>(1 - decay), from[i].values + first,
                 std::min(chunk, from[i].size() - first), to[i].values + first);
  });
  executors.run(averaged_->parts_to_prepare(), [&](uint64_t part, unsigned) { averaged_->prepare(part); });
}

void TensorLearner::weights_changed() {
  model_->weights_changed();
  if (!averaged_) return;
  // Tensors, not parameters: these would lack what does not learn.
  const std::vector<TensorView> from = model_->tensors(), to = averaged_->tensors();
  for (size_t i = 0; i < from.size(); ++i)
    std::copy_n(from[i].values, from[i].rows * from[i].stride, const_cast<float*>(to[i].values));
  averaged_->weights_changed();
}

std::vector<TensorView> TensorLearner::state() const {
  std::vector<TensorView> views;
  const auto add = [&](const char* prefix, const TensorModel& model) {
    for (TensorView view : model.tensors()) {
      view.name = prefix + view.name;
      views.push_back(view);
    }
  };
  add("model.", *model_);
  if (averaged_) add("average.", *averaged_);
  for (const TensorView& view : optimizer_.state()) views.push_back(view);
  return views;
}

nlohmann::ordered_json TensorLearner::state_numbers() const {
  return {{"optimizer", optimizer_.state_numbers()}, {"scales", sum_.scales()}};
}

void TensorLearner::load_state(const SafetensorsReader& tensors, const nlohmann::json& numbers) {
  for (const TensorView& view : state())
    tensors.read(view.name, view.shape, const_cast<float*>(view.values), view.row_floats, view.stride);
  state_changed(numbers);
}

void TensorLearner::state_changed(const nlohmann::json& numbers) {
  optimizer_.load_numbers(numbers.at("optimizer"));
  sum_.load_scales(numbers.at("scales"));
  model_->weights_changed();
  if (averaged_) averaged_->weights_changed();
}

uint64_t TensorLearner::grain_bytes(uint64_t tokens, uint64_t samples) const {
  // An executor has the sums of its grains' gradients as integers, besides what the model needs; those of
  // rows are small.
  uint64_t values = 0;
  for (const Parameter& parameter : model_->parameters())
    if (!parameter.rows) values += parameter.size();
  return model_->grain_bytes(tokens, samples) + values * sizeof(int32_t);
}

std::unique_ptr<Learner> make_learner(const TrainOptions& options, const Task& task,
                                      const fs::path& vocabulary) {
  if (options.model == "ngram") return std::make_unique<NgramModel>(options, task);
  auto learner = std::make_unique<TensorLearner>(options, task);
  if (!options.lstm.word_vectors.empty()) {
    const Parameter& table = learner->trained().parameters()[0];
    const auto words =
        task.tokenizer.is_wordpiece() ? Vocabulary::load_pieces(vocabulary) : Vocabulary::load(vocabulary);
    read_word_vectors(options.lstm.word_vectors, words, table.shape[1], table.values);
    learner->weights_changed();
  }
  return learner;
}

}  // namespace paceline
