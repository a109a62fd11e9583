#include "engine/library/predictor.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/denormals.h"
#include "base/executors.h"
#include "base/machine/limits.h"
#include "data/dataset/tokenizer.h"
#include "engine/evaluate/evaluate.h"

namespace paceline {
namespace {

constexpr size_t texts_at_once = 64;

class ModelPredictor final : public Predictor {
 public:
  explicit ModelPredictor(const fs::path& path) : loaded_(load_model(path)), executors_(usable_cores()) {
    for (unsigned i = 0; i < executors_.count(); ++i)
      tokenizers_.push_back(std::make_unique<Tokenizer>(loaded_.folder, loaded_.task.tokenizer));
  }
  const std::vector<std::string>& classes() const override { return loaded_.task.classes; }
  bool multi_label() const override { return loaded_.task.labels == LabelKind::multiple; }

  Prediction predict(std::string_view text) override {
    const FlushDenormals flush;  // as the executors compute
    Prediction out = tokenized(text, 0);
    label({&out, 1}, std::array{size_t{0}});
    return out;
  }

  std::vector<Prediction> predict(std::span<const std::string_view> texts) override {
    std::vector<Prediction> out(texts.size());
    const uint64_t tasks = (texts.size() + texts_at_once - 1) / texts_at_once;
    executors_.run(tasks, [&](uint64_t task, unsigned executor) {
      const size_t end = std::min(texts.size(), (task + 1) * texts_at_once);
      for (size_t i = task * texts_at_once; i < end; ++i) out[i] = tokenized(texts[i], executor);
    });
    std::vector<size_t> order(texts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return out[i].ids.size(); });
    executors_.run(tasks, [&](uint64_t task, unsigned) {
      const size_t begin = task * texts_at_once;
      label(out, std::span(order).subspan(begin, std::min(texts_at_once, order.size() - begin)));
    });
    return out;
  }

 private:
  Prediction tokenized(std::string_view text, unsigned executor) {
    Tokenizer::Result result;
    tokenizers_[executor]->encode(text, loaded_.task.max_length, result);
    Prediction prediction;
    prediction.ids = std::move(result.ids);
    prediction.tokens = std::move(result.tokens);
    return prediction;
  }

  // Fills in the rest of those that are named.
  void label(std::span<Prediction> predictions, std::span<const size_t> which) const {
    std::vector<Text> texts;
    for (size_t i : which) texts.emplace_back(predictions[i].ids);
    std::vector<float> logits(which.size() * classes().size());
    loaded_.model->logits(texts, logits);
    for (size_t i = 0; i < which.size(); ++i) {
      Prediction& p = predictions[which[i]];
      const auto row = std::span(logits).subspan(i * classes().size(), classes().size());
      p.logits.assign(row.begin(), row.end());
      p.probabilities = p.logits;
      to_probabilities(p.probabilities, multi_label());
      p.labels = labels_of(p.probabilities);
    }
  }

  std::vector<uint32_t> labels_of(std::span<const float> probabilities) const {
    if (!multi_label()) return {predicted_class(probabilities)};
    std::vector<uint32_t> labels;
    for (uint32_t c = 0; c < probabilities.size(); ++c)
      if (label_predicted(probabilities[c])) labels.push_back(c);
    return labels;
  }

  LoadedModel loaded_;
  Executors executors_;
  std::vector<std::unique_ptr<Tokenizer>> tokenizers_;  // one an executor
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const fs::path& model) {
  return std::make_unique<ModelPredictor>(model);
}

}  // namespace paceline
