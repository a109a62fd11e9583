#include "data/generate/disguise.h"

#include <cstdint>

namespace paceline {
namespace {

std::string_view look_alikes(char letter) {
  switch (letter) {
    case 'a':
      return "@4";
    case 'b':
      return "8";
    case 'e':
      return "3";
    case 'g':
      return "9";
    case 'i':
      return "1!";
    case 'l':
      return "1";
    case 'o':
      return "0";
    case 's':
      return "$5";
    case 't':
      return "7+";
    default:
      return "";
  }
}

char upper(char letter) { return static_cast<char>(letter - 'a' + 'A'); }

// Each letter that has a look-alike with one chance in two, and one of them in any case; a word without any
// has its second letter starred.
void with_look_alikes(std::string_view word, RandomStream& random, std::string& out) {
  size_t candidates = 0;
  for (char letter : word) candidates += !look_alikes(letter).empty();
  if (candidates == 0) {
    out.append(1, word[0]).append("*").append(word.substr(2));
    return;
  }
  const uint64_t sure = random.below(candidates), also = random.next();
  size_t seen = 0;
  for (char letter : word) {
    const std::string_view choices = look_alikes(letter);
    if (choices.empty() || (seen != sure && !((also >> seen) & 1)))
      out.push_back(letter);
    else
      out.push_back(choices[random.below(choices.size())]);
    seen += !choices.empty();
  }
}

void with_repeats(std::string_view word, RandomStream& random, std::string& out) {
  const size_t at = 1 + random.below(word.size() - 1);
  out.append(word.substr(0, at)).append(2 + random.below(5), word[at]).append(word.substr(at + 1));
}

void with_gaps(std::string_view word, char gap, std::string& out) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (i > 0) out.push_back(gap);
    out.push_back(word[i]);
  }
}

void with_odd_capitals(std::string_view word, RandomStream& random, std::string& out) {
  // Never a plain first capital, which is no disguise.
  const uint64_t capitals = random.next() | uint64_t{2};
  for (size_t i = 0; i < word.size(); ++i) out.push_back((capitals >> i) & 1 ? upper(word[i]) : word[i]);
}

void with_a_star(std::string_view word, RandomStream& random, std::string& out) {
  const size_t at = 1 + random.below(word.size() - 2);
  out.append(word.substr(0, at)).append("*").append(word.substr(at + 1));
}

}  // namespace

void append_disguised(std::string_view word, RandomStream& random, std::string& out) {
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return with_look_alikes(word, random, out);
    case 3:
      return with_repeats(word, random, out);
    case 4:
      return with_gaps(word, ' ', out);
    case 5:
      return with_gaps(word, ".-_"[random.below(3)], out);
    case 6:
      return with_odd_capitals(word, random, out);
    default:
      return with_a_star(word, random, out);
  }
}

}  // namespace paceline
