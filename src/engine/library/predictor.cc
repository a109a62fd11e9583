#include "engine/library/predictor.h"

#include <algorithm>
#include <numeric>

#include "base/executors.h"
#include "base/machine/limits.h"
#include "data/dataset/tokenizer.h"
#include "engine/evaluate/evaluate.h"
#include "engine/model/piece_guesser.h"

namespace paceline {
namespace {

constexpr size_t texts_at_once = 64;
constexpr size_t guesses_shown = 5;

class ModelPredictor final : public Predictor {
 public:
  explicit ModelPredictor(const fs::path& path) : loaded_(load_model(path)), executors_(usable_cores()) {
    if (fills_masks()) pieces_ = load_vocabulary(loaded_.folder, loaded_.task.tokenizer);
    for (unsigned i = 0; i < executors_.count(); ++i)
      tokenizers_.push_back(std::make_unique<Tokenizer>(loaded_.folder, loaded_.task.tokenizer));
  }
  const std::vector<std::string>& classes() const override { return loaded_.task.classes; }
  bool multi_label() const override { return loaded_.task.labels == LabelKind::multiple; }
  bool fills_masks() const override { return loaded_.task.guesses_pieces(); }

  std::vector<Prediction> predict(std::span<const Question> questions) override {
    std::vector<Prediction> out(questions.size());
    const uint64_t tasks = (questions.size() + texts_at_once - 1) / texts_at_once;
    executors_.run(tasks, [&](uint64_t task, unsigned executor) {
      const size_t end = std::min(questions.size(), (task + 1) * texts_at_once);
      for (size_t i = task * texts_at_once; i < end; ++i) out[i] = tokenized(questions[i], executor);
    });
    std::vector<size_t> order(questions.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return out[i].ids.size(); });
    executors_.run(tasks, [&](uint64_t task, unsigned) {
      const size_t begin = task * texts_at_once;
      label(out, std::span(order).subspan(begin, std::min(texts_at_once, order.size() - begin)));
    });
    return out;
  }

 private:
  Prediction tokenized(const Question& question, unsigned executor) {
    Tokenizer::Result result;
    tokenizers_[executor]->encode(question.text, question.second, loaded_.task.max_length, result);
    Prediction prediction;
    prediction.second_begin = result.second_begin;
    prediction.ids = std::move(result.ids);
    prediction.tokens = std::move(result.tokens);
    return prediction;
  }

  // Fills in the rest of those that are named.
  void label(std::span<Prediction> predictions, std::span<const size_t> which) const {
    if (fills_masks()) {
      for (size_t i : which) fill_masks(predictions[i]);
      return;
    }
    std::vector<Text> texts;
    for (size_t i : which) texts.emplace_back(predictions[i].ids, predictions[i].second_begin);
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

  void fill_masks(Prediction& p) const {
    std::vector<uint32_t> positions;
    for (uint32_t i = 0; i < p.ids.size(); ++i)
      if (p.ids[i] == loaded_.task.pieces->mask()) positions.push_back(i);
    if (positions.empty()) return;
    const auto& guesser = dynamic_cast<const PieceGuesser&>(*loaded_.model);
    std::vector<float> probabilities(positions.size() * guesser.pieces());
    guesser.probabilities(Text(p.ids, p.second_begin), positions, probabilities);
    for (size_t i = 0; i < positions.size(); ++i)
      p.masks.push_back(best_guesses(
          positions[i], std::span(probabilities).subspan(i * guesser.pieces(), pieces_->size())));
  }

  // Of equally likely ones the first in the vocabulary.
  FilledMask best_guesses(uint32_t position, std::span<const float> probabilities) const {
    std::vector<uint32_t> order(probabilities.size());
    std::iota(order.begin(), order.end(), 0u);
    const size_t shown = std::min(guesses_shown, order.size());
    std::ranges::partial_sort(
        order, order.begin() + static_cast<ptrdiff_t>(shown), [&](uint32_t a, uint32_t b) {
          return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
        });
    FilledMask filled{position, {}};
    for (size_t i = 0; i < shown; ++i)
      filled.guesses.push_back({std::string(pieces_->word(order[i])), probabilities[order[i]]});
    return filled;
  }

  std::vector<uint32_t> labels_of(std::span<const float> probabilities) const {
    if (!multi_label()) return {predicted_class(probabilities)};
    std::vector<uint32_t> labels;
    for (uint32_t c = 0; c < probabilities.size(); ++c)
      if (label_predicted(probabilities[c])) labels.push_back(c);
    return labels;
  }

  LoadedModel loaded_;
  std::optional<Vocabulary> pieces_;  // with fills_masks()
  Executors executors_;
  std::vector<std::unique_ptr<Tokenizer>> tokenizers_;  // one an executor
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const fs::path& model) {
  return std::make_unique<ModelPredictor>(model);
}

}  // namespace paceline
