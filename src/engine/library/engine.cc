// The engine library: ties the rooms to the interface that paceline opens on demand.
#include "engine/api/engine.h"

#include <chrono>

#include "base/denormals.h"
#include "base/error.h"
#include "base/machine/limits.h"
#include "data/dataset/tokenizer.h"
#include "engine/aten/aten_lstm.h"
#include "engine/aten/gemm_speed.h"
#include "engine/evaluate/evaluate.h"
#include "engine/train/trainer.h"

namespace paceline {
namespace {

std::string names_of(const std::vector<std::string>& classes) {
  std::string names;
  for (size_t i = 0; i < classes.size() && i < 10; ++i) names += (i > 0 ? ", " : "") + classes[i];
  return classes.empty() ? "none" : names + (classes.size() > 10 ? ", …" : "");
}

class ModelPredictor final : public Predictor {
 public:
  explicit ModelPredictor(const fs::path& path)
      : loaded_(load_model(path)), tokenizer_(loaded_.folder, loaded_.task.tokenizer) {}
  const std::vector<std::string>& classes() const override { return loaded_.task.classes; }
  bool multi_label() const override { return loaded_.task.labels == LabelKind::multiple; }

  Prediction predict(std::string_view text) override {
    const FlushDenormals flush;  // as the executors compute
    Prediction out;
    tokenizer_.encode(text, loaded_.task.max_length, tokenized_);
    out.ids = tokenized_.ids;
    out.tokens = tokenized_.tokens;
    out.logits.resize(classes().size());
    const Text ids(out.ids);
    loaded_.model->logits(std::span(&ids, 1), out.logits);
    out.probabilities = out.logits;
    to_probabilities(out.probabilities, multi_label());
    if (multi_label()) {
      for (uint32_t c = 0; c < out.probabilities.size(); ++c)
        if (out.probabilities[c] >= 0.5f) out.labels.push_back(c);
    } else {
      out.labels = {static_cast<uint32_t>(
          std::max_element(out.probabilities.begin(), out.probabilities.end()) - out.probabilities.begin())};
    }
    return out;
  }

 private:
  LoadedModel loaded_;
  Tokenizer tokenizer_;
  Tokenizer::Result tokenized_;
};

class LibraryEngine final : public Engine {
 public:
  std::string libtorch_version() const override { return paceline::libtorch_version(); }
  double measure_gemm_gflops(unsigned threads) override { return paceline::measure_gemm_gflops(threads); }
  TrainResult train(const TrainOptions& options, Exchange& exchange, Progress& progress) override {
    return paceline::train(options, exchange, progress);
  }

  EvaluateResult evaluate(const fs::path& model, const fs::path& data, const std::string& split,
                          unsigned executors, Progress& progress) override {
    const auto begin = std::chrono::steady_clock::now();
    const LoadedModel loaded = load_model(model);
    const DatasetInfo info = read_dataset_info(data);
    if (info.labels != loaded.task.labels || info.classes != loaded.task.classes)
      input_error("{}: its classes ({}) are not the model's ({})", data.string(), names_of(info.classes),
                  names_of(loaded.task.classes));
    if (!info.tokenizer.gives_same_ids(loaded.task.tokenizer))
      input_error(
          "{}: was prepared with another vocabulary than the model's; prepare it with --tokenizer {} "
          "--tokenizer-from {}",
          data.string(), loaded.task.tokenizer.kind, model.string());
    Executors crew(executors > 0 ? executors : usable_cores());
    EvaluateResult result;
    result.scores = evaluate_split(*loaded.model, loaded.task, data, info, split, crew, progress);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  std::unique_ptr<Predictor> open_predictor(const fs::path& model) override {
    return std::make_unique<ModelPredictor>(model);
  }
};

}  // namespace

Engine* paceline_open_engine() {
  static LibraryEngine engine;
  register_aten_lstm();
  return &engine;
}

}  // namespace paceline
