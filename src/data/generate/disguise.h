// Spellings by which words get past a list of words.
#pragma once
#include <string>
#include <string_view>

#include "base/random.h"

namespace paceline {

// Appends the word as a reader still knows it: "n1tw1t", "niiitwit", "n i t w i t", "n.i.t.w.i.t", "NitWIT",
// "n*twit". The word is of lower-case letters, at least three.
void append_disguised(std::string_view word, RandomStream& random, std::string& out);

}  // namespace paceline
