// One row of a file of reviews, a function of (seed, row number) alone.
#pragma once
#include <cstdint>
#include <string>

#include "data/generate/composer.h"
#include "data/generate/lengths.h"
#include "data/generate/reviews.h"

namespace paceline {

class ReviewRows {
 public:
  // lexicon and grammar outlive it. Throws InputError for values out of range.
  ReviewRows(const ReviewOptions& options, const Lexicon& lexicon, const Grammar& grammar);

  // The CSV header, or nothing.
  std::string header() const;
  // Appends the row to out and adds it to facts. text is room for the caller to keep between rows.
  void append(uint64_t row, Composer& composer, std::string& text, std::string& out,
              ReviewFacts& facts) const;
  Composer composer() const { return {lexicon_, grammar_}; }
  uint64_t typical_words() const { return lengths_.typical(); }

 private:
  const Lexicon& lexicon_;
  const Grammar& grammar_;
  Lengths lengths_;
  uint64_t seed_;
  bool csv_;
  uint64_t bad_of_2_32_, flip_of_2_32_;
};

}  // namespace paceline
