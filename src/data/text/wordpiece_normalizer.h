// A text as BERT's rules make it before it is cut into words.
#pragma once
#include <string_view>
#include <vector>

#include "data/text/wordpiece_characters.h"

namespace paceline {

// A mark that waits for its place in the canonical order.
struct PendingMark {
  uint8_t order;
  char32_t value;
};

// Immutable and shared by threads; what a call needs is the caller's.
class WordPieceNormalizer {
 public:
  static constexpr size_t growth = 3;  // a byte becomes at most so many

  explicit WordPieceNormalizer(const WordPieceRules& rules)
      : lowercase_(rules.lowercase), characters_(WordPieceCharacters::of(rules)) {}

  // Writes the text cleaned, decomposed and lower-cased, with spaces around ideographs and around punctuation
  // beyond ASCII: what is left to do is to cut it at spaces and around ASCII punctuation. Ill-formed UTF-8
  // counts as U+FFFD, which goes. out has room for growth * text.size() + vector_slack. Returns how many
  // bytes were written.
  size_t normalize(std::string_view text, char* out, std::vector<PendingMark>& marks) const;

 private:
  class Writer;
  bool lowercase_;
  const WordPieceCharacters& characters_;
};

}  // namespace paceline
