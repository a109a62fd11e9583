// One row of a file of reviews, a function of (seed, row number) alone.
#pragma once
#include <cstdint>
#include <string>

#include "data/generate/lengths.h"
#include "data/generate/review_composer.h"
#include "data/generate/reviews.h"

namespace paceline {

class ReviewRows {
 public:
  using Facts = ReviewFacts;
  // Room that a thread keeps between rows.
  struct Scratch {
    ReviewComposer composer;
    std::string text;
  };

  // lexicon and grammar outlive it. Throws InputError for values out of range.
  ReviewRows(const ReviewOptions& options, const Lexicon& lexicon, const ReviewGrammar& grammar);

  // The CSV header, or nothing.
  std::string header() const;
  // Appends the row to out and adds it to facts.
  void append(uint64_t row, Scratch& scratch, std::string& out, ReviewFacts& facts) const;
  Scratch scratch() const { return {{lexicon_, grammar_}, {}}; }
  uint64_t typical_bytes() const { return lengths_.typical() * 6 + 120; }

 private:
  const Lexicon& lexicon_;
  const ReviewGrammar& grammar_;
  Lengths lengths_;
  uint64_t seed_;
  bool csv_;
  uint64_t bad_of_2_32_, flip_of_2_32_;
};

}  // namespace paceline
