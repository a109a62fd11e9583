#include "data/generate/lexicon.h"

#include <algorithm>

#include "data/generate/words.h"

namespace paceline {
namespace {

constexpr uint64_t kVocabularyKey = 0x70616365;  // the vocabulary does not follow the user's seed

WordList make_things() {
  WordList common(words::things), all(words::things);
  uint64_t count = common.size();
  KeyedPermutation pair(kVocabularyKey, count * count);
  for (uint64_t i = 0; all.size() < (size_t{1} << Lexicon::thing_octaves) - 1; ++i) {
    uint64_t chosen = pair(i), first = chosen / count, second = chosen % count;
    if (first == second) continue;
    all.add(std::string(common[first]).append(common[second]));
  }
  return all;
}

WordList make_names() {
  WordList syllables(words::syllables), names;
  uint64_t count = syllables.size(), wanted = (uint64_t{1} << Lexicon::name_octaves) - 1;
  KeyedPermutation triple(kVocabularyKey + 1, count * count * count);
  for (uint64_t i = 0; i < wanted; ++i) {
    uint64_t chosen = triple(i);
    std::string name;
    for (int part = 0; part < 3; ++part, chosen /= count) name.append(syllables[chosen % count]);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    names.add(name);
  }
  return names;
}

}  // namespace

WordList::WordList(std::string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) add(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void WordList::add(std::string_view word) {
  letters_.append(word);
  ends_.push_back(static_cast<uint32_t>(letters_.size()));
}

Lexicon::Lexicon()
    : things(make_things()),
      names(make_names()),
      judged{WordList(words::bad), WordList(words::good)},
      acts{WordList(words::rejected), WordList(words::welcome)},
      products(words::products),
      aspects(words::aspects),
      wrappings(words::wrappings),
      people(words::people),
      degrees(words::degrees) {}

void append_typo(std::string_view word, RandomStream& random, std::string& out) {
  if (word.size() < 4) {
    out.append(word);
    return;
  }
  size_t at = 1 + random.below(word.size() - 2);
  out.append(word.substr(0, at));
  switch (random.below(3)) {
    case 0:  // left out
      break;
    case 1:
      out.append(2, word[at]);
      break;
    default:
      out.push_back(word[at + 1]);
      out.push_back(word[at]);
      ++at;
  }
  out.append(word.substr(at + 1));
}

}  // namespace paceline
