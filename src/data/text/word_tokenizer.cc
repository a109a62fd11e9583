#include "data/text/word_tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "data/text/utf8.h"

namespace paceline {
namespace {

enum class Kind : uint8_t { space, letter, digit, mark, ideograph, apostrophe, symbol, beyond_ascii };

constexpr char32_t right_quote = 0x2019;

struct AsciiTables {
  std::array<Kind, 256> kind{};
  std::array<char, 256> in_word{};  // a letter or digit in lower case, else 0
};

constexpr AsciiTables make_ascii_tables() {
  AsciiTables tables;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool upper = byte >= 'A' && byte <= 'Z', lower = byte >= 'a' && byte <= 'z';
    const bool digit = byte >= '0' && byte <= '9';
    tables.in_word[byte] = static_cast<char>(upper ? byte + 32 : lower || digit ? byte : 0);
    tables.kind[byte] = byte >= 0x80                  ? Kind::beyond_ascii
                        : byte <= ' ' || byte == 0x7F ? Kind::space
                        : upper || lower              ? Kind::letter
                        : digit                       ? Kind::digit
                        : byte == '\''                ? Kind::apostrophe
                                                      : Kind::symbol;
  }
  return tables;
}

constexpr AsciiTables ascii = make_ascii_tables();

Kind ascii_kind(char c) { return ascii.kind[static_cast<unsigned char>(c)]; }

bool is_ideograph(char32_t value) {
  return (value >= 0x3400 && value <= 0x4DBF) || (value >= 0x4E00 && value <= 0x9FFF) ||
         (value >= 0xF900 && value <= 0xFAFF) || (value >= 0x20000 && value <= 0x3FFFD) || value == 0x3007;
}

Kind kind_of(char32_t value) {
  if (value < 0x80) return ascii.kind[value];
  if (value == right_quote) return Kind::apostrophe;
  if (is_ideograph(value)) return Kind::ideograph;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(value))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Kind::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Kind::digit;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Kind::mark;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
      return Kind::space;
    default:
      return Kind::symbol;
  }
}

bool letter_follows(std::string_view text, size_t position) {
  return position < text.size() && kind_of(decode_code_point(text, position).value) == Kind::letter;
}

}  // namespace

void WordTokenizer::split(std::string_view text, std::vector<std::string_view>& words) {
  words.clear();
  // Only bytes beyond ASCII can grow: a letter of two bytes to one of three, an ill-formed byte to U+FFFD.
  const auto beyond = std::count_if(text.begin(), text.end(), [](char c) { return c < 0; });
  const size_t needed = text.size() + 2 * static_cast<size_t>(beyond);
  if (scratch_.size() < needed) scratch_.resize(needed);
  used_ = 0;
  words_ = &words;
  run_symbol_ = 0;
  for (size_t position = 0; position < text.size();) {
    Kind kind = ascii_kind(text[position]);
    char32_t value = static_cast<unsigned char>(text[position]);
    size_t length = 1;
    if (kind == Kind::beyond_ascii) {
      const DecodedCodePoint point = decode_code_point(text, position);
      value = point.value;
      length = point.length;
      kind = kind_of(value);
    }
    switch (kind) {
      case Kind::letter:
      case Kind::digit:
        position = take_word(text, position);
        run_symbol_ = 0;
        break;
      case Kind::symbol:
      case Kind::apostrophe:
        take_symbol(value);
        position += length;
        break;
      case Kind::ideograph: {
        const size_t begin = used_;
        put(value);
        emit(begin);
        position += length;
        run_symbol_ = 0;
        break;
      }
      case Kind::mark:
        position += length;
        break;
      default:
        position += length;
        run_symbol_ = 0;
    }
  }
}

size_t WordTokenizer::take_word(std::string_view text, size_t position) {
  const size_t begin = used_;
  bool after_letter = false;
  while (true) {
    const size_t end = take_ascii(text, position);
    if (end > position) after_letter = ascii_kind(text[end - 1]) == Kind::letter;
    position = end;
    if (position == text.size()) break;
    Kind kind = ascii_kind(text[position]);
    DecodedCodePoint point{U'\'', 1, true};
    if (kind == Kind::beyond_ascii) {
      point = decode_code_point(text, position);
      kind = kind_of(point.value);
    }
    if (kind == Kind::apostrophe) {
      if (!after_letter || !letter_follows(text, position + point.length)) break;
      point.value = U'\'';
      after_letter = false;
    } else if (kind == Kind::letter || kind == Kind::digit) {
      after_letter = kind == Kind::letter;
    } else if (kind != Kind::mark) {
      break;
    }
    put(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point.value))));
    position += point.length;
  }
  emit(begin);
  return position;
}

// The hot loop: its pointers are local, since a store to a char may change any member.
size_t WordTokenizer::take_ascii(std::string_view text, size_t position) {
  const char* in = text.data() + position;
  const char* const end = text.data() + text.size();
  char* const first = &scratch_[used_];
  char* out = first;
  for (; in < end; ++in, ++out) {
    const char c = ascii.in_word[static_cast<unsigned char>(*in)];
    if (c == 0) break;
    *out = c;
  }
  used_ += static_cast<size_t>(out - first);
  return static_cast<size_t>(in - text.data());
}

void WordTokenizer::take_symbol(char32_t symbol) {
  constexpr unsigned longest_run = 3;
  run_length_ = symbol == run_symbol_ ? run_length_ + 1 : 1;
  run_symbol_ = symbol;
  if (run_length_ <= longest_run) {
    const size_t begin = used_;
    put(symbol);
    emit(begin);
  }
}

void WordTokenizer::put(char32_t value) {
  if (value < 0x80) {
    scratch_[used_++] = static_cast<char>(value);
    return;
  }
  used_ += static_cast<size_t>(utf8proc_encode_char(static_cast<utf8proc_int32_t>(value),
                                                    reinterpret_cast<utf8proc_uint8_t*>(&scratch_[used_])));
}

void WordTokenizer::emit(size_t begin) {
  std::string_view word(&scratch_[begin], used_ - begin);
  if (word.size() > max_word_bytes) word = word.substr(0, code_point_boundary(word, max_word_bytes));
  words_->push_back(word);
}

}  // namespace paceline
