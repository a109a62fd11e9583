#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/score/scores.h"

namespace paceline {
namespace {

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// "'a', 'b' and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

// The mean over the classes that have one, in their order.
std::optional<double> mean_of(const std::vector<ClassScores>& classes,
                              std::optional<double> ClassScores::*member) {
  double sum = 0;
  uint64_t defined = 0;
  for (const auto& c : classes)
    if (const auto& value = c.*member) {
      sum += *value;
      ++defined;
    }
  return defined == 0 ? std::nullopt : std::optional(sum / static_cast<double>(defined));
}

}  // namespace

Scores ScoreCounter::result() const {
  Scores scores;
  scores.multi_label = multi_label_;
  scores.samples = samples_;
  fill_classes(scores);
  fill_means(scores);
  fill_ranks(scores);
  fill_null_classifier(scores);
  if (samples_ > 0 && improbable_ == 0) {
    const double losses =
        static_cast<double>(samples_) * (multi_label_ ? static_cast<double>(classes_.size()) : 1);
    scores.mean_loss = std::ldexp(static_cast<double>(loss_), -72) / losses;
  }
  for (size_t i = 0; i < confusion_.size(); i += classes_.size())
    scores.confusion.emplace_back(&confusion_[i], &confusion_[i] + classes_.size());
  note(scores);
  return scores;
}

void ScoreCounter::fill_classes(Scores& scores) const {
  for (size_t i = 0; i < classes_.size(); ++i) {
    ClassScores c;
    c.name = classes_[i];
    c.support = support_[i];
    c.predicted = predicted_[i];
    c.hits = hits_[i];
    c.precision = ratio(c.hits, c.predicted);
    c.recall = ratio(c.hits, c.support);
    c.f1 = ratio(2 * c.hits, c.support + c.predicted);
    scores.classes.push_back(std::move(c));
  }
}

void ScoreCounter::fill_means(Scores& scores) const {
  uint64_t support = 0, predicted = 0, hits = 0;
  double precision = 0, recall = 0, f1 = 0, weighted = 0;
  for (const auto& c : scores.classes) {
    support += c.support;
    predicted += c.predicted;
    hits += c.hits;
    precision += c.precision;
    recall += c.recall;
    f1 += c.f1;
    weighted += c.f1 * static_cast<double>(c.support);
  }
  const double count = static_cast<double>(classes_.size());
  scores.macro_precision = precision / count;
  scores.macro_recall = recall / count;
  scores.macro_f1 = f1 / count;
  scores.micro_f1 = ratio(2 * hits, support + predicted);
  scores.weighted_f1 = support == 0 ? 0 : weighted / static_cast<double>(support);
  if (multi_label_) {
    const uint64_t cells = samples_ * classes_.size();
    scores.accuracy = ratio(cells - (support + predicted - 2 * hits), cells);
    scores.exact_match = ratio(exact_matches_, samples_);
  } else {
    scores.accuracy = ratio(hits, samples_);
    scores.matthews = matthews();
  }
}

void ScoreCounter::fill_ranks(Scores& scores) const {
  const bool binary = !multi_label_ && classes_.size() == 2;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const RankScores rank = ranks_[i].result();
    ClassScores& c = scores.classes[i];
    c.auc = rank.auc;
    c.average_precision = rank.average_precision;
    if (!binary && !multi_label_) continue;
    c.best_f1 = rank.best_f1;
    c.best_threshold = rank.best_threshold;
  }
  scores.auc = binary ? scores.classes[1].auc : mean_of(scores.classes, &ClassScores::auc);
  scores.average_precision =
      binary ? scores.classes[1].average_precision : mean_of(scores.classes, &ClassScores::average_precision);
}

void ScoreCounter::fill_null_classifier(Scores& scores) const {
  NullScores& null = scores.null_classifier;
  if (!multi_label_) {
    const auto most = std::max_element(support_.begin(), support_.end());
    null.predicts = classes_[static_cast<size_t>(most - support_.begin())];
    null.accuracy = ratio(*most, samples_);
    null.macro_f1 = ratio(2 * *most, *most + samples_) / static_cast<double>(classes_.size());
    return;
  }
  uint64_t right = 0;
  double f1 = 0;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const bool yes = support_[i] > samples_ - support_[i];
    right += yes ? support_[i] : samples_ - support_[i];
    if (!yes) continue;
    f1 += ratio(2 * support_[i], support_[i] + samples_);
    null.predicts += (null.predicts.empty() ? "" : ", ") + classes_[i];
  }
  null.accuracy = ratio(right, samples_ * classes_.size());
  null.macro_f1 = f1 / static_cast<double>(classes_.size());
  if (!null.predicts.empty()) return;
  null.predicts = "no label";
  null.exact_match = ratio(without_label_, samples_);
}

// The correlation of truth and prediction over all classes (Gorodkin's R_K); 0 where either is constant.
double ScoreCounter::matthews() const {
  __int128 hits = 0, agree = 0, truth = 0, predicted = 0;
  const __int128 n = samples_;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const __int128 t = support_[i], p = predicted_[i];
    hits += hits_[i];
    agree += t * p;
    truth += t * t;
    predicted += p * p;
  }
  const double below =
      std::sqrt(static_cast<double>(n * n - truth)) * std::sqrt(static_cast<double>(n * n - predicted));
  return below == 0 ? 0 : static_cast<double>(hits * n - agree) / below;
}

void ScoreCounter::note(Scores& scores) const {
  if (samples_ == 0) {
    scores.notes.push_back(
        "There is no sample to score: counts and ratios are 0, everything else is undefined.");
    return;
  }
  std::vector<std::string> absent, everywhere;
  for (const auto& c : scores.classes) {
    if (c.support == 0) absent.push_back(c.name);
    if (c.support == samples_) everywhere.push_back(c.name);
  }
  const char* thing = multi_label_ ? "label" : "class";
  if (!absent.empty())
    scores.notes.push_back(fmt::format(
        "AUC and average precision of {} are undefined: no positive sample; recall and F1 count as 0.",
        listed(absent)));
  if (!everywhere.empty())
    scores.notes.push_back(fmt::format("AUC of {} is undefined: no negative sample.", listed(everywhere)));
  const size_t undefined = absent.size() + everywhere.size();
  if (undefined > 0 && scores.auc && (multi_label_ || classes_.size() > 2))
    scores.notes.push_back(
        fmt::format("The mean AUC is taken over the {} of {} {}{} for which it is defined.",
                    classes_.size() - undefined, classes_.size(), thing, multi_label_ ? "s" : "es"));
  if (improbable_ > 0)
    scores.notes.push_back(
        fmt::format("The mean loss is undefined: {} of {} samples have a score outside 0 to 1.",
                    with_commas(improbable_), with_commas(samples_)));
  if (ranks_[0].folded())
    scores.notes.push_back(
        fmt::format("AUC, average precision and thresholds are counted in fine bins of the scores, not score "
                    "by score: {} "
                    "samples are more than {}.",
                    with_commas(samples_), with_commas(RankLimits::for_classes(classes_.size()).kept)));
  if (!multi_label_ && confusion_.empty())
    scores.notes.push_back(fmt::format("There is no confusion matrix: {} classes are too many for one.",
                                       with_commas(classes_.size())));
}

}  // namespace paceline
