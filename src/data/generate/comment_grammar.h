// The words and sentence patterns of comments (comment_words.h, comment_phrases.h), parsed once.
#pragma once
#include <array>
#include <vector>

#include "data/generate/comment_contents.h"
#include "data/generate/lexicon.h"
#include "data/generate/pattern.h"

namespace paceline {

struct CommentLexicon : Lexicon {
  CommentLexicon();
  WordList insults, coarse, oaths, wrecks, slurs;
  WordList possessions, brands, titles, sections, months, weekdays;
};

struct CommentGrammar {
  CommentGrammar();
  struct Wordings {
    Patterns clauses, direct, harmless;
  };
  std::array<Wordings, saying_count> sayings;  // by Saying
  Patterns frames[2];                          // [0] disowns the clause behind it, [1] asserts it
  Patterns asides, greetings, openers, edits, reasons, facts, remarks, questions, headings, signatures;
  std::vector<Patterns> brief;  // brief[n] has n words; none for 0
};

}  // namespace paceline
