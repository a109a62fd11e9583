#include "data/text/utf8.h"

#include <simdjson.h>

namespace paceline {

bool valid_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

namespace {

// What may follow a lead byte (Unicode 15, table 3-7): how many bytes, and the range of the first of
// them, which excludes overlong forms, surrogates and values beyond U+10FFFF.
struct Lead {
  unsigned following;
  unsigned char low, high;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

DecodedCodePoint decode_code_point(std::string_view text, size_t position) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(position);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {replacement_character, 1, false};
  char32_t value = first & (0x3Fu >> lead.following);
  for (unsigned k = 1; k <= lead.following; ++k) {
    const bool there = position + k < text.size();
    const unsigned char low = k == 1 ? lead.low : 0x80, high = k == 1 ? lead.high : 0xBF;
    if (!there || byte(position + k) < low || byte(position + k) > high) {
      return {replacement_character, k, false};
    }
    value = (value << 6) | (byte(position + k) & 0x3Fu);
  }
  return {value, lead.following + 1, true};
}

void replace_invalid_utf8(std::string_view in, std::string& out) {
  if (valid_utf8(in)) {
    out.assign(in);
    return;
  }
  out.clear();
  size_t copied = 0;
  for (size_t position = 0; position < in.size();) {
    const DecodedCodePoint point = decode_code_point(in, position);
    if (!point.valid) {
      out.append(in, copied, position - copied);
      append_code_point(out, replacement_character);
      copied = position + point.length;
    }
    position += point.length;
  }
  out.append(in, copied, in.size() - copied);
}

void append_code_point(std::string& out, char32_t value) {
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) value = replacement_character;
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6));
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18));
    put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

size_t code_point_boundary(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text.size();
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

}  // namespace paceline
