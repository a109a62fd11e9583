// What the reference tokenizer knows of Unicode. Its tables are of several versions, so they are not taken
// from a library but were asked from the reference itself, code point by code point
// (make_wordpiece_unicode.py). Ids then do not depend on the Unicode library of a machine.
#pragma once
#include <cstdint>
#include <span>

namespace paceline::wordpiece_unicode {

struct Range {
  char32_t first, last;
};
// first, first + step, …, last each become themselves plus the distance.
struct Shift {
  char32_t first, last, step;
  int32_t distance;
};
struct OrderedMark {
  char32_t first, last;
  uint8_t order;  // canonical combining class
};

extern const std::span<const Range> removed;      // by cleaning, as if they were not there
extern const std::span<const Range> spaces;       // become a space
extern const std::span<const Range> punctuation;  // words of their own
extern const std::span<const Range>
    dropped_marks;  // left out with accents; canonical ordering goes past them
extern const std::span<const Range> dropped_starters;  // left out with accents; ordering stops at them
extern const std::span<const OrderedMark> kept_marks;  // not left out, but put into canonical order
extern const std::span<const Shift> lower;
// A code point, how many follow, those: what it becomes where that is more than one.
extern const std::span<const char32_t> lower_to_several;
// Likewise: decomposed and without nonspacing marks, where that is something else. Hangul is not in it.
extern const std::span<const char32_t> decompositions;

}  // namespace paceline::wordpiece_unicode
