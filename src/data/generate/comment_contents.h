// What a comment can say, how often, and with which probabilities it gets which labels: the whole truth about
// generated comments, from which the best possible scores follow.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "data/generate/ranking.h"

namespace paceline {

// In the order of the columns of the Jigsaw competition.
inline constexpr std::array<std::string_view, 6> comment_labels = {"toxic",  "severe_toxic", "obscene",
                                                                   "threat", "insult",       "identity_hate"};
using CommentLabels = std::array<bool, comment_labels.size()>;

// The ways to be unpleasant. The last two are in doubt: some find them toxic.
enum class Saying : uint8_t { hostile, coarse, insult, threat, identity, fury, grumble, tease };
inline constexpr unsigned saying_count = 8;

// Labels depend on nothing else of a comment, and a reader can tell it from the text.
struct Content {
  uint8_t sayings = 0;    // bits: 1 << Saying
  bool mentions = false;  // harmless use of a telling word: quoted, denied, about a film
  bool says(Saying saying) const { return (sayings >> static_cast<unsigned>(saying)) & 1; }
};

inline constexpr unsigned comment_content_count = 16;

class CommentContents {
 public:
  // toxic: share of rows with that label, whatever the noise. noise: share of rows that have the labels of
  // another comment, drawn like any. Throws InputError for values out of range.
  CommentContents(double toxic, double noise);

  // Numbers are below comment_content_count.
  Content content(unsigned number) const;
  // Of a row: its content, then its labels.
  unsigned draw(RandomStream& random) const;
  CommentLabels draw_labels(RandomStream& random, unsigned number, bool& of_another) const;

  // Probabilities. No score ranks better than that of the label given the content.
  double share(unsigned number) const;
  double score(unsigned number, size_t label) const;
  double rate(size_t label) const;
  // What that score reaches on average.
  Ranking best(size_t label) const;

 private:
  struct Chances {
    uint64_t toxic;                                             // in 2^-32, as all here
    std::array<uint64_t, comment_labels.size()> with, without;  // given that it is toxic or not; [0] unused
  };
  double chance(unsigned number, size_t label) const;  // without noise

  std::array<uint64_t, comment_content_count> cumulative_{};
  std::array<Chances, comment_content_count> chances_{};
  uint64_t noise_;
};

}  // namespace paceline
