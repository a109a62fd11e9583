// UTF-8: checked, repaired, decoded and encoded.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace paceline {

bool valid_utf8(std::string_view text);

// Replaces out. Each maximal part of an ill-formed sequence becomes one U+FFFD, as the Unicode
// standard (3.9, best practice for U+FFFD) recommends.
void replace_invalid_utf8(std::string_view in, std::string& out);

inline constexpr char32_t replacement_character = 0xFFFD;

struct DecodedCodePoint {
  char32_t value;   // U+FFFD when ill-formed
  unsigned length;  // bytes it took; for an ill-formed sequence those of its maximal part, at least 1
  bool valid;
};

// text[position] must exist.
DecodedCodePoint decode_code_point(std::string_view text, size_t position);
// Surrogates and values beyond U+10FFFF are written as U+FFFD.
void append_code_point(std::string& out, char32_t value);
// The largest length <= limit at which valid text can be cut without splitting a code point.
size_t code_point_boundary(std::string_view text, size_t limit);

}  // namespace paceline
