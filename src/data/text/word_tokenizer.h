// Cuts text into words. The rules are a format (docs/formats/word-tokenizer.md): a vocabulary and a
// model are only good with the rules that they were made with.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// - Letters are lower-cased, one code point for one. NFC is assumed, not enforced.
// - A word is a maximal run of letters, digits and combining marks. An apostrophe (' or U+2019, written
//   as ') between two letters belongs to the word: don't. A mark without a letter or digit vanishes.
// - A Han ideograph is a word of its own.
// - Every other visible character (punctuation, symbol) is a word of its own; of a run of more than
//   three equal ones three remain.
// - Spaces, control and format characters separate words and vanish.
// - A word longer than 64 bytes is cut to its first 64, at a code point boundary.
// Ill-formed UTF-8 counts as U+FFFD, so the words are always valid UTF-8.
class WordTokenizer {
 public:
  static constexpr size_t max_word_bytes = 64;
  static constexpr int version = 1;

  // Replaces words. The views are valid until the next call.
  void split(std::string_view text, std::vector<std::string_view>& words);

 private:
  // Both write what they take to the scratch, and return the position behind it.
  size_t take_word(std::string_view text, size_t position);
  size_t take_ascii(std::string_view text, size_t position);
  void take_symbol(char32_t symbol);
  void put(char32_t value);
  void emit(size_t begin);

  std::string scratch_;  // as long as the words of the text can be; filled up to used_
  size_t used_ = 0;
  std::vector<std::string_view>* words_ = nullptr;  // of the call under way
  char32_t run_symbol_ = 0;                         // the symbol that stands before the position, or 0
  unsigned run_length_ = 0;
};

}  // namespace paceline
