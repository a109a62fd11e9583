// The ids of one or two texts as one sequence: [CLS] A [SEP], or [CLS] A [SEP] B [SEP].
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/text/wordpiece.h"

namespace paceline {

struct SegmentLengths {
  size_t first, second;
  bool operator==(const SegmentLengths&) const = default;
};

// How many ids stay of two texts that have room for so many together. The longer text gives first; once both
// are equally long they share the room, and the longer one, or else the second, has one more if it is odd.
// This is what the reference calls longest_first.
SegmentLengths cut_longest_first(SegmentLengths lengths, size_t room);

struct Sequence {
  std::vector<uint32_t> ids;
  uint32_t second_begin = 0;  // where the second text's ids begin; 0: there is none
  bool truncated = false;
};

// Ids around the texts' own.
inline constexpr uint64_t special_of_one = 2, special_of_two = 3;

// Replaces out. max_length: of the whole; 0: as long as it is. False when a text has no pieces at all.
bool encode_sequence(const WordPiece& wordpiece, std::string_view text,
                     std::optional<std::string_view> second, uint64_t max_length, WordPiece::Scratch& scratch,
                     Sequence& out);

// Cuts a whole sequence in place to max_length ids (at least 1), such that every [SEP] stays; second_begin
// follows. With two texts at least [CLS] [SEP] [SEP] are left. Returns the new length.
size_t shorten_sequence(std::span<uint32_t> ids, uint32_t& second_begin, uint64_t max_length);

}  // namespace paceline
