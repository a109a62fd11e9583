// The sentence patterns of phrases.h, parsed once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

enum class Slot : uint8_t { none, judged, act, degree, thing, name, person, product, aspect, wrapping };

// A run of plain text and the slot behind it. The text brings its own blanks and punctuation.
struct Piece {
  std::string text;
  Slot slot = Slot::none;
};

struct Pattern {
  explicit Pattern(std::string_view line);
  std::vector<Piece> pieces;
  unsigned words = 0;
};

using Patterns = std::vector<Pattern>;
Patterns parse_patterns(std::string_view lines);

// A statement is an opener, a gap, and a rest; one of the two outer parts keeps or turns the sign of
// the word that judges, the other is shared by both: so words and pairs of words stay balanced.
struct StatementFamily {
  Patterns openers[2], rests[2];  // [0] turns the sign, [1] keeps it
  unsigned shortest_gap;          // words between the two parts
  bool comma;                     // behind the gap
};

struct Grammar {
  Grammar();
  std::vector<StatementFamily> families;
  StatementFamily brief;  // fits wherever three words do; its gap stands at the end
  Patterns other_openers, other_rests, concessions, plainly[2], neutral;
  std::vector<Patterns> filler;  // filler[n] has n words; none for 0
};

}  // namespace paceline
