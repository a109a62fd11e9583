// Comments in the columns of the Jigsaw toxic comment competition, in any number, with a known best AUC.
#pragma once
#include <array>
#include <optional>

#include "data/generate/comment_contents.h"
#include "data/generate/rows_file.h"

namespace paceline {

struct CommentOptions : RowsOptions {
  double toxic = 0.096;       // share of rows labelled toxic; the other labels go with it
  double noise = 0.02;        // probability that a row has the labels of another comment
  double obfuscation = 0.25;  // share of telling words that are disguised
};

struct CommentFacts : RowsFacts {
  // Counted.
  uint64_t of_another = 0;  // rows with the labels of another comment
  uint64_t without_label = 0;
  struct Counts {
    uint64_t rows = 0;
    std::array<uint64_t, comment_labels.size()> labelled{};
  };
  std::array<Counts, comment_content_count> by_content;

  // What follows.
  struct Label {
    uint64_t rows = 0;
    double expected_share = 0;
    Ranking best{};                    // of P(label | content), on average
    std::optional<Ranking> best_here;  // the same on the rows of this file; without any such row nothing
  };
  std::array<Label, comment_labels.size()> labels;
  Ranking best{};                    // mean over the labels
  std::optional<Ranking> best_here;  // mean over those that have one

  void add(const CommentFacts& part);
  // Fills what follows from the counts.
  void conclude(const CommentContents& contents);
};

// Writes options.out and options.out + ".facts.json", or neither. Throws InputError (an existing file,
// no rows, a folder that is not there, a value out of range), WorkError (a full disk), Interrupted.
CommentFacts generate_comments(const CommentOptions& options, Progress& progress);

}  // namespace paceline
