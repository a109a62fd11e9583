// Writes sentences from patterns: what the composers of all kinds of text share.
#pragma once
#include <string>
#include <string_view>

#include "base/random.h"
#include "data/generate/lexicon.h"
#include "data/generate/pattern.h"

namespace paceline {

class SentenceWriter {
 protected:
  // Replaces text, which outlives the writing of it.
  void begin_text(RandomStream random, std::string& text);
  // The separator stands before every sentence but the first.
  void begin_sentence(std::string_view separator);
  // A capital for its first letter, unless told otherwise, and the mark behind it.
  void end_sentence(std::string_view mark, bool capital = true);

  // Writes the pattern; fill(slot) writes what stands in a slot.
  template <typename Fill>
  void write(const Pattern& pattern, const Fill& fill) {
    for (const Piece& piece : pattern.pieces) {
      text_->append(piece.text);
      if (piece.slot != Slot::none) fill(piece.slot);
    }
  }
  // With a slip of the finger now and then, and the article that fits.
  void word(std::string_view word);
  // Makes an "a" that stands before the word to be written an "an" where it has to be.
  void fit_article(std::string_view word);

  bool chance(unsigned of_256) { return (random_.next() & 255) < of_256; }
  const Pattern& choose(const Patterns& patterns) { return patterns[random_.below(patterns.size())]; }
  std::string_view choose(const WordList& words) { return words[random_.below(words.size())]; }
  // By Zipf's law.
  std::string_view choose(const WordList& words, unsigned octaves) {
    return words[zipf_rank(random_, octaves) % words.size()];
  }

  RandomStream random_{uint64_t{0}};
  std::string* text_ = nullptr;
  size_t sentence_begin_ = 0;  // where its capital goes
};

}  // namespace paceline
