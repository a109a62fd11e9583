#include "data/generate/review_grammar.h"

#include "data/generate/review_phrases.h"

namespace paceline {
namespace {

StatementFamily opener_decides(std::string_view turning, std::string_view keeping, std::string_view rest,
                               bool comma) {
  Patterns rests = parse_patterns(rest);
  return {{parse_patterns(turning), parse_patterns(keeping)}, {rests, rests}, 2, comma};
}

StatementFamily rest_decides(std::string_view opener, std::string_view turning, std::string_view keeping) {
  Patterns openers = parse_patterns(opener);
  return {{openers, openers}, {parse_patterns(turning), parse_patterns(keeping)}, 2, false};
}

}  // namespace

ReviewGrammar::ReviewGrammar()
    : brief(opener_decides(review_phrases::brief_turning, review_phrases::brief_keeping,
                           review_phrases::brief_rest, false)),
      other_openers(parse_patterns(review_phrases::other_product)),
      other_rests(parse_patterns(review_phrases::other_rest)),
      concessions(parse_patterns(review_phrases::concession)),
      plainly{parse_patterns(review_phrases::plainly_bad), parse_patterns(review_phrases::plainly_good)},
      neutral(parse_patterns(review_phrases::neutral)),
      filler(parse_patterns_by_words(review_phrases::filler)) {
  families.push_back(opener_decides(review_phrases::feel_turning, review_phrases::feel_keeping,
                                    review_phrases::feel_rest, false));
  families.push_back(
      opener_decides(review_phrases::is_turning, review_phrases::is_keeping, review_phrases::is_rest, true));
  families.push_back(opener_decides(review_phrases::plan_turning, review_phrases::plan_keeping,
                                    review_phrases::plan_rest, false));
  families.push_back(
      rest_decides(review_phrases::claim, review_phrases::claim_turning, review_phrases::claim_keeping));
}

}  // namespace paceline
