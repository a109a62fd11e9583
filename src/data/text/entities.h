// HTML's character references.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

// text[position] is '&'. When a reference begins there ("&amp;", "&#39;", "&#x27;") its character is
// appended and its length returned; else nothing is appended and 0 returned.
size_t decode_entity(std::string_view text, size_t position, std::string& out);

}  // namespace paceline
