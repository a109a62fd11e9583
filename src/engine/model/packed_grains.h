// The sequences of one or several grains without padding, moment by moment: the tokens at position 0 of all
// sequences, then at position 1 of those that are longer, and so on. Sequences are ordered by length, the
// longest first, so that the ones that have ended are always the last.
#pragma once
#include <vector>

#include "engine/model/text.h"

namespace paceline {

// Equally long sequences stay in their order. So the rows and sequences of one grain stand in the same order
// whatever other grains are packed with it, and a sum over them has the same bits.
struct PackedGrains {
  // grain_begin: the first text of each grain and the end, counted from any number, as in Batch. Texts are
  // cut to max_length tokens (0: not at all); one without tokens counts as one unknown word.
  void pack(std::span<const Text> texts, std::span<const uint64_t> grain_begin, uint64_t max_length);
  // All texts as one grain.
  void pack(std::span<const Text> texts, uint64_t max_length);

  size_t grain_count() const { return rows_of.size(); }
  size_t sequences() const { return samples.size(); }
  size_t moments() const { return begin.size() - 1; }
  size_t tokens() const { return begin.back(); }
  size_t active(size_t moment) const { return begin[moment + 1] - begin[moment]; }
  size_t length(size_t sequence) const { return lengths[sequence]; }
  // Where position p of a sequence lies.
  size_t row(size_t sequence, size_t p) const { return begin[p] + sequence; }

  std::vector<uint32_t> begin;    // moments + 1: the first row of each moment
  std::vector<uint32_t> grains;   // sequence -> its grain, the first one packed is 0
  std::vector<uint32_t> samples;  // sequence -> number of the text in its grain
  std::vector<uint32_t> lengths;  // of sequences
  std::vector<uint32_t> ids;      // row -> token
  std::vector<uint32_t> numbers;  // row -> number of the token in its grain, text after text
  std::vector<uint32_t>
      before;  // row -> row of the same sequence one moment earlier; tokens() where there is none
  std::vector<uint32_t> reversed;              // row of the reverse direction -> row of the same token here
  std::vector<std::vector<uint32_t>> rows_of;  // grain -> its rows, which are the same in both directions

 private:
  void order_by_length(std::span<const uint32_t> length_of, std::span<const uint64_t> grain_begin);
  void lay_out_moments();
};

}  // namespace paceline
