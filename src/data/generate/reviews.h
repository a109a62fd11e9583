// Reviews of products in the field names of the public Amazon files, in any number, with a known truth.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/progress.h"

namespace paceline {

struct ReviewOptions {
  uint64_t rows = 0;
  uint64_t seed = 1;
  fs::path out;                  // must not exist; OUT.facts.json is written beside it
  std::string format = "jsonl";  // or "csv"
  std::string length;            // "" a long tail, median 40 words; "25" another median; "3-8" a range
  double negative = 0.22;        // share of rows labelled negative
  double noise = 0.05;           // probability that a label is the opposite of what the text says
  unsigned threads = 0;          // 0: one per core; never changes the bytes
};

struct ReviewFacts {
  uint64_t rows = 0, negative = 0;  // as labelled
  uint64_t flipped = 0;             // rows whose label contradicts their text
  uint64_t words = 0, longest = 0;
  uint64_t bytes = 0;
  double best_possible_accuracy = 0;  // 1 - noise: what reading every text perfectly scores on average
  double null_accuracy = 0;           // always answering the more frequent label, on this file
};

// Writes options.out and options.out + ".facts.json", or neither. Throws InputError (an existing file,
// no rows, a folder that is not there, a value out of range), WorkError (a full disk), Interrupted.
ReviewFacts generate_reviews(const ReviewOptions& options, Progress& progress);

}  // namespace paceline
