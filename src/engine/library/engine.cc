// The engine library: ties the rooms to the interface that paceline opens on demand.
#include "engine/api/engine.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/machine/limits.h"
#include "data/dataset/tokenizer.h"
#include "engine/aten/aten_bert.h"
#include "engine/aten/aten_lstm.h"
#include "engine/aten/gemm_speed.h"
#include "engine/evaluate/evaluate.h"
#include "engine/library/predictor.h"
#include "engine/train/checkpoint_model.h"
#include "engine/train/trainer.h"

namespace paceline {
namespace {

std::string names_of(const std::vector<std::string>& classes) {
  std::string names;
  for (size_t i = 0; i < classes.size() && i < 10; ++i) names += (i > 0 ? ", " : "") + classes[i];
  return classes.empty() ? "none" : names + (classes.size() > 10 ? ", …" : "");
}

// The model that is evaluated: one that was kept, or that of a checkpoint.
struct EvaluatedModel {
  LoadedModel kept;
  CheckpointModel checkpoint;
  const Model& model() const { return kept.model ? *kept.model : checkpoint.learner->model(); }
  const Task& task() const { return kept.model ? kept.task : checkpoint.task; }
};

EvaluatedModel open_evaluated(const EvaluateOptions& options, const DatasetInfo& data) {
  if (!options.checkpoint.empty())
    return {{}, load_checkpoint_model(options.model, options.checkpoint, data, options.data)};
  return {load_model(options.model), {}};
}

uint32_t class_of(const std::string& name, const Task& task) {
  if (name.empty()) return task.classes.size() == 2 && task.labels == LabelKind::single ? 1 : 0;
  const auto found = std::ranges::find(task.classes, name);
  if (found == task.classes.end())
    input_error("--of {}: there is no such class; there are {}", name, names_of(task.classes));
  return static_cast<uint32_t>(found - task.classes.begin());
}

void fill_texts(Extremes& extremes, const fs::path& folder, const TokenizerInfo& tokenizer) {
  const Vocabulary vocabulary = load_vocabulary(folder, tokenizer);
  for (auto* samples : {&extremes.highest, &extremes.lowest, &extremes.most_wrong})
    for (ScoredSample& sample : *samples) sample.text = text_of(sample.ids, vocabulary, tokenizer);
}

void check_fits(const EvaluateOptions& options, const DatasetInfo& data, const Task& task) {
  if (data.classes.empty() && !task.guesses_pieces())
    input_error("{}: has no labels to score against", options.data.string());
  if (task.guesses_pieces() && !data.classes.empty())
    input_error("{}: it has labels, and the model guesses masked words; prepare it without --label",
                options.data.string());
  if (task.guesses_pieces() && (options.top > 0 || !options.of.empty()))
    input_error("--{}: the model guesses masked words, and has no classes; leave it out",
                options.top > 0 ? "top" : "of");
  if (task.guesses_pieces() && data.packed && task.max_length > 0 &&
      data.tokenizer.max_length > task.max_length)
    input_error("{}: its rows are packed to {} ids, and the model uses {}; prepare it with --max-length {}",
                options.data.string(), data.tokenizer.max_length, task.max_length, task.max_length);
  if (data.labels != task.labels || data.classes != task.classes)
    input_error("{}: its classes ({}) are not the model's ({})", options.data.string(),
                names_of(data.classes), names_of(task.classes));
  if (!data.tokenizer.gives_same_ids(task.tokenizer))
    input_error(
        "{}: was prepared with another vocabulary than the model's; prepare it with --tokenizer {} "
        "--tokenizer-from {}",
        options.data.string(), task.tokenizer.kind, options.model.string());
}

class LibraryEngine final : public Engine {
 public:
  std::string libtorch_version() const override { return paceline::libtorch_version(); }
  double measure_gemm_gflops(unsigned threads) override { return paceline::measure_gemm_gflops(threads); }
  bool bfloat16_is_right() override { return paceline::bfloat16_is_right(); }
  TrainResult train(const TrainOptions& options, Exchange& exchange, Progress& progress) override {
    return paceline::train(options, exchange, progress);
  }

  EvaluateResult evaluate(const EvaluateOptions& options, Progress& progress) override {
    const auto begin = std::chrono::steady_clock::now();
    const DatasetInfo data = read_dataset_info(options.data);
    const EvaluatedModel evaluated = open_evaluated(options, data);
    const Task& task = evaluated.task();
    check_fits(options, data, task);
    const uint32_t of = class_of(options.of, task);
    ExtremesCounter extremes(options.top, task.guesses_pieces() ? "" : task.classes[of]);
    SampleListener listener;
    if (options.top > 0)
      listener = [&](uint64_t row, const Sample& sample, std::span<const float> scores) {
        const bool truth = task.labels == LabelKind::multiple ? sample.flags[of] != 0 : sample.label == of;
        extremes.add(row, scores[of], truth, sample.ids);
      };
    Executors executors(options.executors > 0 ? options.executors : usable_cores());
    EvaluateResult result;
    result.scores = evaluate_split(evaluated.model(), task, options.data, data, options.split, executors,
                                   progress, nullptr, 0, listener);
    if (!options.checkpoint.empty()) result.step = evaluated.checkpoint.step;
    if (options.top > 0) fill_texts(result.extremes.emplace(extremes.take()), options.data, data.tokenizer);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  std::unique_ptr<Predictor> open_predictor(const fs::path& model) override { return make_predictor(model); }
};

}  // namespace

Engine* paceline_open_engine() {
  static LibraryEngine engine;
  register_aten_lstm();
  register_aten_bert();
  return &engine;
}

}  // namespace paceline
