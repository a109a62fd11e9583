// Scores of a classifier: counted sample by sample, summed over workers, equal to scikit-learn's; and those
// of a model that guesses masked pieces.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/table.h"
#include "engine/score/rank_counter.h"

namespace paceline {

// One class against all others, or one label. A quotient with nothing below the line counts as 0
// (scikit-learn's zero_division=0).
struct ClassScores {
  std::string name;
  uint64_t support = 0, predicted = 0, hits = 0;  // hits: predicted and true
  double precision = 0, recall = 0, f1 = 0;
  std::optional<double> auc, average_precision;
  // Of the rule "score >= threshold" at its best threshold; for two classes and for labels.
  std::optional<double> best_f1, best_threshold;
};

// The classifier that has not read the text: always the most frequent class, or for each label the
// more frequent of yes and no.
struct NullScores {
  std::string predicts;
  double accuracy = 0, macro_f1 = 0;
  std::optional<double> exact_match;  // labels only, and known only where it predicts none
};

// Of guesses of masked pieces, in place of what a classifier has.
struct MaskedScores {
  uint64_t pieces = 0;    // that were masked
  double accuracy = 0;    // share of them that were guessed
  double perplexity = 0;  // e to the mean loss
};

// Nothing here is ever NaN: what is undefined is absent, and notes say why.
struct Scores {
  bool multi_label = false;
  uint64_t samples = 0;
  double accuracy = 0;                // labels: the mean of the labels' accuracies
  std::optional<double> exact_match;  // labels: samples with every label right
  double macro_precision = 0, macro_recall = 0, macro_f1 = 0, micro_f1 = 0, weighted_f1 = 0;
  // Two classes: of the second. More classes, or labels: the mean over those for which it is defined.
  std::optional<double> auc, average_precision;
  // Natural logarithm, probabilities clipped to [e, 1 - e] with e = 2^-52; labels: the mean over them.
  std::optional<double> mean_loss;
  std::optional<double> matthews;                // single-label
  std::vector<std::vector<uint64_t>> confusion;  // [true][predicted]; single-label, up to 1,024 classes
  std::vector<ClassScores> classes;
  NullScores null_classifier;
  std::vector<std::string> notes;      // whole sentences
  std::optional<MaskedScores> masked;  // then of the others only samples, mean_loss and notes count
};

// loss: summed over the pieces, of which there is at least one.
Scores masked_scores(uint64_t samples, uint64_t pieces, uint64_t right, double loss);

// A label is predicted when its score is at least one half.
inline bool label_predicted(float score) { return score >= 0.5f; }
// The class with the highest score, the first of equals.
uint32_t predicted_class(std::span<const float> scores);

// Counts samples in bounded memory. The result has the same bits whatever the order of add() and
// merge() and however the samples were spread over counters. One thread at a time per counter.
class ScoreCounter {
 public:
  ScoreCounter(std::vector<std::string> classes, bool multi_label);
  // scores: one per class, probabilities (or anything else that ranks: then there is no mean loss).
  // Throws WorkError when one is NaN.
  void add(std::span<const float> scores, uint32_t true_class);
  void add(std::span<const float> scores, std::span<const uint8_t> true_labels);
  // The other counter is not this one, and has the same classes.
  void merge(const ScoreCounter& other);
  uint64_t samples() const { return samples_; }
  Scores result() const;

 private:
  using Wide = unsigned __int128;
  void check(std::span<const float> scores);
  void count_loss(float score, bool truth);
  void fill_classes(Scores& scores) const;
  void fill_means(Scores& scores) const;
  void fill_ranks(Scores& scores) const;
  void fill_null_classifier(Scores& scores) const;
  double matthews() const;
  void note(Scores& scores) const;

  std::vector<std::string> classes_;
  bool multi_label_;
  uint64_t samples_ = 0, exact_matches_ = 0, without_label_ = 0;
  std::vector<uint64_t> support_, predicted_, hits_;
  std::vector<uint64_t> confusion_;  // row by row
  std::vector<RankCounter> ranks_;
  Wide loss_ = 0;            // in units of 2^-72, so that addition is exact
  uint64_t improbable_ = 0;  // samples with a score outside [0, 1]
};

nlohmann::ordered_json to_json(const Scores& scores);
// A row per class and one for their mean.
Table scores_table(const Scores& scores);
// Single-label: a row per true class, a column per predicted one. Labels: the four counts of each.
Table confusion_table(const Scores& scores);

}  // namespace paceline
