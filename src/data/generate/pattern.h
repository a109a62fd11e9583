// Sentence patterns: one a line, with slots in braces that a composer fills.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

enum class Slot : uint8_t {
  none,
  // of every kind of text
  thing,
  name,
  person,
  // of reviews
  judged,
  act,
  degree,
  product,
  aspect,
  wrapping,
  // of comments
  topic,
  title,
  you,
  editor,
  section,
  number,
  year,
  recent,
  month,
  day,
  weekday,
  clock,
  insult,
  coarse,
  oath,
  wreck,
  possession,
  brand,
  slur
};

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
// [n] has those of n words; none for 0.
std::vector<Patterns> parse_patterns_by_words(std::string_view lines);

}  // namespace paceline
