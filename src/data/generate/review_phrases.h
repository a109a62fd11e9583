// Sentence patterns, one a line. A slot in braces is filled by the composer:
//   {judged} an adjective of the asked sign   {act} a verb of the asked sign   {degree} "very"
//   {thing} {name} {person} by Zipf's law     {product} {aspect} of this review {wrapping} "box"
#pragma once
#include <string_view>

namespace paceline::review_phrases {

// Openers keep the sign of what follows ("I can honestly say … good") or turn it around ("I never once
// felt … good"). Both kinds share what follows, so that no word or pair of words tells them apart.
extern const std::string_view feel_keeping, feel_turning, feel_rest;
extern const std::string_view is_keeping, is_turning, is_rest;
extern const std::string_view plan_keeping, plan_turning, plan_rest;
// Here the opener is shared and the end decides: "My brother says it is awful, … he is mistaken".
extern const std::string_view claim, claim_keeping, claim_turning;
// For reviews of a few words.
extern const std::string_view brief_keeping, brief_turning, brief_rest;

// Judgements that do not count: of another product, or of what stands before a "but".
extern const std::string_view other_product, other_rest;
extern const std::string_view concession;
// Sentences whose words alone give the verdict away.
extern const std::string_view plainly_good, plainly_bad;
// No judgement at all: the start of a sentence, and what fills gaps of a given number of words.
extern const std::string_view neutral;
extern const std::string_view filler;

}  // namespace paceline::review_phrases
