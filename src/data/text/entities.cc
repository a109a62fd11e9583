#include "data/text/entities.h"

#include <algorithm>
#include <array>

#include "data/text/utf8.h"

namespace paceline {
namespace {

struct Entity {
  std::string_view name;
  char32_t value;
};

// The names that occur in reviews and comments, in order (capitals first).
constexpr auto named = std::to_array<Entity>({
    {"AElig", 0xC6},    {"Aacute", 0xC1},  {"Acirc", 0xC2},   {"Agrave", 0xC0},   {"Aring", 0xC5},
    {"Atilde", 0xC3},   {"Auml", 0xC4},    {"Ccedil", 0xC7},  {"Eacute", 0xC9},   {"Ecirc", 0xCA},
    {"Egrave", 0xC8},   {"Euml", 0xCB},    {"Iacute", 0xCD},  {"Ntilde", 0xD1},   {"OElig", 0x152},
    {"Oacute", 0xD3},   {"Ocirc", 0xD4},   {"Oslash", 0xD8},  {"Ouml", 0xD6},     {"Scaron", 0x160},
    {"Uacute", 0xDA},   {"Uuml", 0xDC},    {"aacute", 0xE1},  {"acirc", 0xE2},    {"acute", 0xB4},
    {"aelig", 0xE6},    {"agrave", 0xE0},  {"amp", '&'},      {"apos", '\''},     {"aring", 0xE5},
    {"atilde", 0xE3},   {"auml", 0xE4},    {"bdquo", 0x201E}, {"bull", 0x2022},   {"ccedil", 0xE7},
    {"cent", 0xA2},     {"copy", 0xA9},    {"deg", 0xB0},     {"divide", 0xF7},   {"eacute", 0xE9},
    {"ecirc", 0xEA},    {"egrave", 0xE8},  {"euml", 0xEB},    {"euro", 0x20AC},   {"frac12", 0xBD},
    {"frac14", 0xBC},   {"frac34", 0xBE},  {"gt", '>'},       {"hearts", 0x2665}, {"hellip", 0x2026},
    {"iacute", 0xED},   {"icirc", 0xEE},   {"iexcl", 0xA1},   {"igrave", 0xEC},   {"iquest", 0xBF},
    {"iuml", 0xEF},     {"laquo", 0xAB},   {"larr", 0x2190},  {"ldquo", 0x201C},  {"lsaquo", 0x2039},
    {"lsquo", 0x2018},  {"lt", '<'},       {"mdash", 0x2014}, {"micro", 0xB5},    {"middot", 0xB7},
    {"minus", 0x2212},  {"nbsp", 0xA0},    {"ndash", 0x2013}, {"ntilde", 0xF1},   {"oacute", 0xF3},
    {"ocirc", 0xF4},    {"oelig", 0x153},  {"ograve", 0xF2},  {"oslash", 0xF8},   {"otilde", 0xF5},
    {"ouml", 0xF6},     {"para", 0xB6},    {"plusmn", 0xB1},  {"pound", 0xA3},    {"prime", 0x2032},
    {"quot", '"'},      {"raquo", 0xBB},   {"rarr", 0x2192},  {"rdquo", 0x201D},  {"reg", 0xAE},
    {"rsaquo", 0x203A}, {"rsquo", 0x2019}, {"sbquo", 0x201A}, {"scaron", 0x161},  {"sect", 0xA7},
    {"shy", 0xAD},      {"sup2", 0xB2},    {"sup3", 0xB3},    {"szlig", 0xDF},    {"thorn", 0xFE},
    {"tilde", 0x2DC},   {"times", 0xD7},   {"trade", 0x2122}, {"uacute", 0xFA},   {"ucirc", 0xFB},
    {"ugrave", 0xF9},   {"uuml", 0xFC},    {"yacute", 0xFD},  {"yen", 0xA5},      {"yuml", 0xFF},
    {"zwj", 0x200D},    {"zwnj", 0x200C},
});
constexpr size_t longest_name = 6;
static_assert(std::ranges::is_sorted(named, {}, &Entity::name));

// HTML reads references to U+0080..U+009F as Windows-1252, in which old pages wrote their quotes.
constexpr std::array<char16_t, 32> windows_1252 = {
    0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
    0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

int digit_of(char c, bool hex) {
  if (c >= '0' && c <= '9') return c - '0';
  if (!hex) return -1;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

size_t decode_numeric(std::string_view text, size_t position, std::string& out) {
  size_t k = position + 2;
  const bool hex = k < text.size() && (text[k] == 'x' || text[k] == 'X');
  if (hex) ++k;
  const size_t first = k;
  char32_t value = 0;
  for (; k < text.size(); ++k) {
    const int digit = digit_of(text[k], hex);
    if (digit < 0) break;
    value = std::min<char32_t>(value * (hex ? 16 : 10) + static_cast<char32_t>(digit), 0x110000);
  }
  if (k == first || k == text.size() || text[k] != ';') return 0;
  if (value >= 0x80 && value < 0xA0) value = windows_1252[value - 0x80];
  append_code_point(out, value == 0 ? replacement_character : value);
  return k + 1 - position;
}

}  // namespace

size_t decode_entity(std::string_view text, size_t position, std::string& out) {
  if (position + 1 < text.size() && text[position + 1] == '#') return decode_numeric(text, position, out);
  const std::string_view ahead = text.substr(position + 1, longest_name + 1);
  const size_t length = ahead.find(';');
  if (length == std::string_view::npos || length == 0) return 0;
  const std::string_view name = ahead.substr(0, length);
  const auto found = std::ranges::lower_bound(named, name, {}, &Entity::name);
  if (found == named.end() || found->name != name) return 0;
  append_code_point(out, found->value);
  return length + 2;
}

}  // namespace paceline
