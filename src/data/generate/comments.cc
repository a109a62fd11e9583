#include "data/generate/comments.h"

#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "data/generate/comment_rows.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

Ranking operator+(const Ranking& a, const Ranking& b) {
  return {a.auc + b.auc, a.average_precision + b.average_precision};
}
Ranking operator/(const Ranking& a, double by) { return {a.auc / by, a.average_precision / by}; }

Json label_json(const CommentFacts& facts, const CommentFacts::Label& label) {
  return {{"rows", label.rows},
          {"share", facts.share(label.rows)},
          {"expected_share", label.expected_share},
          {"best_possible_auc", label.best.auc},
          {"best_possible_auc_on_this_file", label.best_here ? Json(label.best_here->auc) : Json()},
          {"best_possible_average_precision", label.best.average_precision},
          {"null_average_precision", label.expected_share}};
}

Json facts_json(const RowsFile& file, const CommentOptions& options, const CommentFacts& facts) {
  Json json = file.facts_json(
      "paceline-generated-comments",
      {{"toxic", options.toxic}, {"noise", options.noise}, {"obfuscation", options.obfuscation}});
  Json labels = Json::object();
  for (size_t label = 0; label < comment_labels.size(); ++label)
    labels[std::string(comment_labels[label])] = label_json(facts, facts.labels[label]);
  json.update({{"label", fmt::format("{}", fmt::join(comment_labels, ","))},
               {"rows", facts.rows},
               {"rows_without_label", facts.without_label},
               {"rows_with_labels_of_another", facts.of_another},
               {"mean_words", facts.share(facts.words)},
               {"longest_words", facts.longest},
               {"labels", labels},
               {"null_auc", 0.5},
               {"best_possible_auc", facts.best.auc},
               {"best_possible_auc_on_this_file", facts.best_here ? Json(facts.best_here->auc) : Json()},
               {"best_possible_average_precision", facts.best.average_precision},
               {"why",
                "Labels are drawn with probabilities that depend on what the text says alone, so no score "
                "ranks better on "
                "average than those probabilities; their AUC follows from how often each thing is said. A "
                "row has the labels "
                "of another comment with probability " +
                    fmt::format("{}.", options.noise)}});
  return json;
}

}  // namespace

void CommentFacts::add(const CommentFacts& part) {
  RowsFacts::add(part);
  of_another += part.of_another;
  without_label += part.without_label;
  for (size_t i = 0; i < by_content.size(); ++i) {
    by_content[i].rows += part.by_content[i].rows;
    for (size_t label = 0; label < labels.size(); ++label)
      by_content[i].labelled[label] += part.by_content[i].labelled[label];
  }
}

void CommentFacts::conclude(const CommentContents& contents) {
  Ranking sum{}, sum_here{};
  double defined = 0;
  for (size_t label = 0; label < labels.size(); ++label) {
    Label& known = labels[label];
    std::vector<ScoredGroup> groups;
    for (unsigned i = 0; i < by_content.size(); ++i) {
      const uint64_t positive = by_content[i].labelled[label];
      known.rows += positive;
      groups.push_back({contents.score(i, label), static_cast<double>(positive),
                        static_cast<double>(by_content[i].rows - positive)});
    }
    known.expected_share = contents.rate(label);
    known.best = contents.best(label);
    known.best_here = rank_groups(std::move(groups));
    sum = sum + known.best;
    if (!known.best_here) continue;
    sum_here = sum_here + *known.best_here;
    ++defined;
  }
  best = sum / static_cast<double>(labels.size());
  if (defined > 0) best_here = sum_here / defined;
}

CommentFacts generate_comments(const CommentOptions& options, Progress& progress) {
  RowsFile file(options);
  const CommentLexicon lexicon;
  const CommentGrammar grammar;
  const CommentRows rows(options, lexicon, grammar);
  CommentFacts facts = file.write(rows, progress);
  facts.conclude(rows.contents());
  file.place(facts_json(file, options, facts));
  return facts;
}

}  // namespace paceline
