#include "data/generate/reviews.h"

#include <algorithm>

#include "data/generate/review_rows.h"

namespace paceline {
namespace {

nlohmann::ordered_json facts_json(const RowsFile& file, const ReviewOptions& options,
                                  const ReviewFacts& facts) {
  nlohmann::ordered_json json = file.facts_json("paceline-generated-reviews",
                                                {{"negative", options.negative}, {"noise", options.noise}});
  json.update(
      {{"label", "overall>=4:positive,overall<=2:negative"},
       {"rows", facts.rows},
       {"negative_rows", facts.negative},
       {"negative_share", facts.share(facts.negative)},
       {"flipped_rows", facts.flipped},
       {"mean_words", facts.share(facts.words)},
       {"longest_words", facts.longest},
       {"null_accuracy", facts.null_accuracy},
       {"best_possible_accuracy", facts.best_possible_accuracy},
       {"best_possible_accuracy_on_this_file", 1 - facts.share(facts.flipped)},
       {"why",
        fmt::format(
            "Every text has one verdict that a reader can work out; its label is the opposite with "
            "probability {}, whatever the text, so no model can be right more often than 1 - {} on average.",
            options.noise, options.noise)}});
  return json;
}

}  // namespace

void ReviewFacts::add(const ReviewFacts& part) {
  RowsFacts::add(part);
  negative += part.negative;
  flipped += part.flipped;
}

ReviewFacts generate_reviews(const ReviewOptions& options, Progress& progress) {
  RowsFile file(options);
  const Lexicon lexicon;
  const ReviewGrammar grammar;
  const ReviewRows rows(options, lexicon, grammar);
  ReviewFacts facts = file.write(rows, progress);
  facts.best_possible_accuracy = 1 - options.noise;
  facts.null_accuracy = facts.share(std::max(facts.negative, facts.rows - facts.negative));
  file.place(facts_json(file, options, facts));
  return facts;
}

}  // namespace paceline
