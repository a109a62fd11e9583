// The engine library: ties the rooms to the interface that paceline opens on demand.
#include "engine/api/engine.h"

#include <chrono>

#include "base/denormals.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/machine/limits.h"
#include "data/text/text_pipeline.h"
#include "data/text/vocabulary.h"
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
      : loaded_(load_model(path)),
        vocabulary_(Vocabulary::load(loaded_.folder / loaded_.task.tokenizer.vocabulary)),
        pipeline_(loaded_.task.tokenizer.clean_html) {
    if (vocabulary_.size() != loaded_.task.tokenizer.vocabulary_size)
      input_error("{}: its vocabulary has {} words, its config says {}", loaded_.folder.string(),
                  vocabulary_.size(), loaded_.task.tokenizer.vocabulary_size);
    if ("xxh3:" + to_hex(vocabulary_.hash()) != loaded_.task.tokenizer.vocabulary_hash)
      input_error("{}: its vocabulary is not the one that the model was trained with",
                  (loaded_.folder / loaded_.task.tokenizer.vocabulary).string());
  }
  const std::vector<std::string>& classes() const override { return loaded_.task.classes; }
  bool multi_label() const override { return loaded_.task.labels == LabelKind::multiple; }

  Prediction predict(std::string_view text) override {
    const FlushDenormals flush;  // as the executors compute
    Prediction out;
    for (std::string_view word : pipeline_.words(pipeline_.clean(text))) {
      out.tokens.emplace_back(word);
      out.ids.push_back(vocabulary_.id(word));
    }
    out.logits.resize(classes().size());
    const Text ids = out.ids;
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
  Vocabulary vocabulary_;
  TextPipeline pipeline_;
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
    if (info.tokenizer.vocabulary_hash != loaded.task.tokenizer.vocabulary_hash ||
        info.tokenizer.vocabulary_size != loaded.task.tokenizer.vocabulary_size)
      input_error(
          "{}: was prepared with another vocabulary than the model's; prepare it with --tokenizer-from {}",
          data.string(), model.string());
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
