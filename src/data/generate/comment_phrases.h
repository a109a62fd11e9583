// Sentence patterns of comments, one a line; see pattern.h for slots.
//   {topic} {title} "Marelbri Bridge", the article under discussion   {section} a part of it
//   {you} who is addressed   {editor} another   {insult} {coarse} {oath} {wreck} {slur} telling words
#pragma once
#include <string_view>

namespace paceline::comment_phrases {

// What unpleasant comments say: as a clause, which can also be denied or quoted, and as a sentence of its
// own.
struct Wordings {
  std::string_view clauses, direct;
  std::string_view harmless;  // sentences with the same telling words that attack nobody
};
extern const Wordings hostile, coarse, insult, threat, identity, fury, grumble, tease;

// Before a clause: what makes it the writer's own word, and what makes it somebody else's or denies it. Both
// have "never", "nobody" and "not", so that no such word tells them apart.
extern const std::string_view asserting, disowning;
// Between such a frame and its clause.
extern const std::string_view asides;

// Sentences about articles: what was done to them, with or without a reason behind it, and what is the case,
// with or without a remark. Remarks, and greetings and openers before either, are set off by a comma.
extern const std::string_view greetings, openers;
extern const std::string_view edits, reasons;
extern const std::string_view facts, remarks;
extern const std::string_view questions;
// Whole sentences of one to five words, at least one of each.
extern const std::string_view brief;
extern const std::string_view headings, signatures;

}  // namespace paceline::comment_phrases
