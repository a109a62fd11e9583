#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "engine/score/scores.h"

namespace paceline {
namespace {

constexpr size_t most_confused_classes = 1024;

}  // namespace

uint32_t predicted_class(std::span<const float> scores) {
  PACELINE_ASSERT(!scores.empty());
  return static_cast<uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

ScoreCounter::ScoreCounter(std::vector<std::string> classes, bool multi_label)
    : classes_(std::move(classes)),
      multi_label_(multi_label),
      support_(classes_.size()),
      predicted_(classes_.size()),
      hits_(classes_.size()),
      ranks_(classes_.size(), RankCounter(RankLimits::for_classes(classes_.size()))) {
  PACELINE_ASSERT(!classes_.empty());
  if (!multi_label_ && classes_.size() <= most_confused_classes)
    confusion_.resize(classes_.size() * classes_.size());
}

void ScoreCounter::check(std::span<const float> scores) {
  PACELINE_ASSERT(scores.size() == classes_.size());
  bool probabilities = true;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]))
      work_error(
          "the score of class '{}' is not a number (NaN): the model is broken; train it again with a "
          "smaller learning rate",
          classes_[i]);
    probabilities = probabilities && scores[i] >= 0 && scores[i] <= 1;
  }
  improbable_ += !probabilities;
}

// The clipping is scikit-learn's for doubles. A loss lies between 2^-52 and 37: in units of 2^-72 the
// smallest keeps 20 bits, and 2^50 of the largest fit.
void ScoreCounter::count_loss(float score, bool truth) {
  constexpr double least = 0x1.0p-52;
  const double probability = truth ? static_cast<double>(score) : 1 - static_cast<double>(score);
  const double loss = -portable_log(std::clamp(probability, least, 1 - least));
  loss_ += static_cast<Wide>(std::ldexp(loss, 72));
}

void ScoreCounter::add(std::span<const float> scores, uint32_t true_class) {
  PACELINE_ASSERT(!multi_label_ && true_class < classes_.size());
  check(scores);
  const uint32_t predicted = predicted_class(scores);
  ++samples_;
  ++support_[true_class];
  ++predicted_[predicted];
  if (predicted == true_class) ++hits_[predicted];
  if (!confusion_.empty()) ++confusion_[true_class * classes_.size() + predicted];
  for (size_t i = 0; i < scores.size(); ++i) ranks_[i].add(scores[i], i == true_class);
  count_loss(scores[true_class], true);
}

void ScoreCounter::add(std::span<const float> scores, std::span<const uint8_t> true_labels) {
  PACELINE_ASSERT(multi_label_ && true_labels.size() == classes_.size());
  check(scores);
  ++samples_;
  bool exact = true, any = false;
  for (size_t i = 0; i < scores.size(); ++i) {
    const bool truth = true_labels[i] != 0, predicted = label_predicted(scores[i]);
    support_[i] += truth;
    predicted_[i] += predicted;
    hits_[i] += truth && predicted;
    exact = exact && truth == predicted;
    any = any || truth;
    ranks_[i].add(scores[i], truth);
    count_loss(scores[i], truth);
  }
  exact_matches_ += exact;
  without_label_ += !any;
}

void ScoreCounter::merge(const ScoreCounter& other) {
  PACELINE_ASSERT(this != &other && classes_ == other.classes_ && multi_label_ == other.multi_label_);
  auto sum = [](std::vector<uint64_t>& to, const std::vector<uint64_t>& from) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  samples_ += other.samples_;
  exact_matches_ += other.exact_matches_;
  without_label_ += other.without_label_;
  sum(support_, other.support_);
  sum(predicted_, other.predicted_);
  sum(hits_, other.hits_);
  sum(confusion_, other.confusion_);
  for (size_t i = 0; i < ranks_.size(); ++i) ranks_[i].merge(other.ranks_[i]);
  loss_ += other.loss_;
  improbable_ += other.improbable_;
}

}  // namespace paceline
