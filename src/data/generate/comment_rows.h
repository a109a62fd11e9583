// One row of a file of comments, a function of (seed, row number) alone.
#pragma once
#include <cstdint>
#include <string>

#include "data/generate/comment_composer.h"
#include "data/generate/comments.h"
#include "data/generate/lengths.h"

namespace paceline {

class CommentRows {
 public:
  using Facts = CommentFacts;
  // Room that a thread keeps between rows.
  struct Scratch {
    CommentComposer composer;
    std::string text;
  };
  // What decides how well a row can be ranked.
  struct Truth {
    unsigned content;
    CommentLabels labels;
    bool of_another;
  };

  // lexicon and grammar outlive it. Throws InputError for values out of range.
  CommentRows(const CommentOptions& options, const CommentLexicon& lexicon, const CommentGrammar& grammar);

  // The CSV header, or nothing.
  std::string header() const;
  // Appends the row to out and adds it to facts.
  void append(uint64_t row, Scratch& scratch, std::string& out, CommentFacts& facts) const;
  Scratch scratch() const { return {{lexicon_, grammar_, disguised_of_2_32_}, {}}; }
  uint64_t typical_bytes() const { return lengths_.typical() * 6 + 60; }

  const CommentContents& contents() const { return contents_; }
  Truth truth(uint64_t row) const;

 private:
  RandomStream stream(uint64_t row) const;
  Truth truth(RandomStream& random) const;

  const CommentLexicon& lexicon_;
  const CommentGrammar& grammar_;
  Lengths lengths_;
  CommentContents contents_;
  uint64_t seed_;
  bool csv_;
  uint64_t disguised_of_2_32_;
};

}  // namespace paceline
