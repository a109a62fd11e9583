// Reviews of products in the field names of the public Amazon files, in any number, with a known truth.
#pragma once
#include "data/generate/rows_file.h"

namespace paceline {

struct ReviewOptions : RowsOptions {
  double negative = 0.22;  // share of rows labelled negative
  double noise = 0.05;     // probability that a label is the opposite of what the text says
};

struct ReviewFacts : RowsFacts {
  uint64_t negative = 0;              // rows, as labelled
  uint64_t flipped = 0;               // rows whose label contradicts their text
  double best_possible_accuracy = 0;  // 1 - noise: what reading every text perfectly scores on average
  double null_accuracy = 0;           // always answering the more frequent label, on this file
  void add(const ReviewFacts& part);
};

// Writes options.out and options.out + ".facts.json", or neither. Throws InputError (an existing file,
// no rows, a folder that is not there, a value out of range), WorkError (a full disk), Interrupted.
ReviewFacts generate_reviews(const ReviewOptions& options, Progress& progress);

}  // namespace paceline
