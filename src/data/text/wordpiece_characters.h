// What becomes of each code point when a text is normalised for WordPiece.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/text/wordpiece_rules.h"

namespace paceline {

enum class CharacterKind : uint8_t {
  plain,        // one code point, part of a word
  removed,      // nothing; value 1: and canonical ordering stops here
  space,        //
  punctuation,  // one code point, a word of its own
  ideograph,    // likewise
  mark,         // itself, to be put into canonical order with its neighbours
  several,      // code points that are looked up again
  hangul        // a syllable, to be taken apart
};

// Immutable.
class WordPieceCharacters {
 public:
  struct Character {
    CharacterKind kind;
    int32_t value;  // added to the code point; or where the several begin
  };

  explicit WordPieceCharacters(const WordPieceRules& rules);
  // The table for these rules, which is made once and stays. Safe for several threads.
  static const WordPieceCharacters& of(const WordPieceRules& rules);

  // value <= U+10FFFF.
  Character at(char32_t value) const {
    const int32_t entry = pages_[page_of_[value / page_size] * size_t{page_size} + value % page_size];
    return {static_cast<CharacterKind>(entry & 7), entry >> 3};
  }
  std::span<const char32_t> several(int32_t begin) const {
    const char32_t* const count = several_.data() + begin;
    return {count + 1, *count};
  }
  // The canonical combining class of a kept mark.
  static uint8_t order_of(char32_t mark);

 private:
  static constexpr uint32_t code_points = 0x110000, page_size = 256;
  void lower_letters(std::vector<int32_t>& entries);
  void take_accents(std::vector<int32_t>& entries);
  int32_t becoming(char32_t value, std::span<const char32_t> result);
  void fold(const std::vector<int32_t>& entries);

  std::array<uint16_t, code_points / page_size> page_of_;
  std::vector<int32_t> pages_;     // equal pages are there once
  std::vector<char32_t> several_;  // a count, then so many code points, again and again
};

}  // namespace paceline
