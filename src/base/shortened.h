// Names that strangers chose, made fit for a message.
#pragma once
#include <string>
#include <string_view>

namespace paceline {

// Its first bytes when it is long, without control characters.
inline std::string shortened(std::string_view text, size_t most = 100) {
  std::string shown(text.substr(0, most));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = '?';
  return text.size() <= most ? shown : shown + "…";
}

}  // namespace paceline
