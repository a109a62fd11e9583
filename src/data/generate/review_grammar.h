// The sentence patterns of reviews (review_phrases.h), parsed once.
#pragma once
#include <vector>

#include "data/generate/pattern.h"

namespace paceline {

// A statement is an opener, a gap, and a rest; one of the two outer parts keeps or turns the sign of
// the word that judges, the other is shared by both: so words and pairs of words stay balanced.
struct StatementFamily {
  Patterns openers[2], rests[2];  // [0] turns the sign, [1] keeps it
  unsigned shortest_gap;          // words between the two parts
  bool comma;                     // behind the gap
};

struct ReviewGrammar {
  ReviewGrammar();
  std::vector<StatementFamily> families;
  StatementFamily brief;  // fits wherever three words do; its gap stands at the end
  Patterns other_openers, other_rests, concessions, plainly[2], neutral;
  std::vector<Patterns> filler;  // filler[n] has n words; none for 0
};

}  // namespace paceline
