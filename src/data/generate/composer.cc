#include "data/generate/composer.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace paceline {
namespace {

// What a sentence in the body is, in 256ths; the rest judge another product.
constexpr unsigned kNeutral = 96, kStatement = 80, kConcession = 48;
// How often a statement says it straight rather than turned around, in 256ths.
constexpr unsigned kKeeping = 160;
// How often a judgement that does not count is the opposite of the verdict, in 256ths.
constexpr unsigned kOpposite = 154;
// How many reviews have a sentence whose words alone give the verdict away, in 256ths.
constexpr unsigned kPlain = 96;
// How often a statement takes the shortest form, and a word a slip of the finger, in 256ths.
constexpr unsigned kBrief = 16, kTypo = 2;
// In words.
constexpr unsigned kLongestGap = 8, kLongestSentence = 16, kLongestPlain = 6;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool needs_an(std::string_view word) {
  return std::string_view("aeiouAEIOU").find(word[0]) != std::string_view::npos && !word.starts_with("us");
}

}  // namespace

void Composer::compose(RandomStream random, Product product, bool good, uint64_t words, std::string& text) {
  random_ = random;
  product_ = product;
  good_ = good;
  text_ = &text;
  left_ = words;
  paragraphs_ = words > 150;
  text.clear();
  if (words >= kLongestPlain + fewest_words && chance(kPlain)) {
    uint64_t kept = fewest_words + kLongestPlain;
    if (chance(128))
      while (left_ > kLongestSentence + kLongestPlain) body_sentence(left_ - kept);
    plain_sentence();
  }
  while (left_ > kLongestSentence) body_sentence(left_ - fewest_words);
  last_sentence(left_);
  PACELINE_ASSERT(left_ == 0);
}

void Composer::body_sentence(uint64_t room) {
  auto kind = static_cast<unsigned>(random_.next() & 255);
  if (kind < kNeutral)
    return neutral_sentence(static_cast<unsigned>(std::min<uint64_t>(room, 5 + random_.below(9))));
  if (kind >= kNeutral + kStatement + kConcession) return other_product_sentence(room);
  begin_sentence();
  if (kind >= kNeutral + kStatement) {
    const Pattern& concession = choose(grammar_.concessions);
    if (concession.words + fewest_words <= room) {
      pattern(concession, good_ != chance(kOpposite));
      text_->push_back(' ');
      room -= concession.words;
    }
  }
  statement(choose_statement(fewest_words, room));
  end_sentence();
}

void Composer::neutral_sentence(unsigned words) {
  begin_sentence();
  const Pattern& opener = choose(grammar_.neutral);
  if (opener.words < words) {
    pattern(opener, true);
    text_->push_back(' ');
    gap(words - opener.words);
  } else {
    gap(words);
  }
  end_sentence();
}

void Composer::other_product_sentence(uint64_t room) {
  const Pattern& opener = choose(grammar_.other_openers);
  const Pattern& rest = choose(grammar_.other_rests);
  uint64_t fixed = opener.words + rest.words;
  if (fixed + 2 > room) return neutral_sentence(5);
  begin_sentence();
  pattern(opener, true);
  text_->push_back(' ');
  gap(static_cast<unsigned>(std::min<uint64_t>(room - fixed, 2 + random_.below(kLongestGap - 1))));
  text_->push_back(' ');
  pattern(rest, good_ != chance(kOpposite));
  end_sentence();
}

void Composer::plain_sentence() {
  begin_sentence();
  pattern(choose(grammar_.plainly[good_]), good_);
  end_sentence();
}

void Composer::last_sentence(uint64_t words) {
  begin_sentence();
  const Pattern& concession = choose(grammar_.concessions);
  if (chance(64) && concession.words + fewest_words <= words) {
    pattern(concession, good_ != chance(kOpposite));
    text_->push_back(' ');
    words -= concession.words;
  }
  statement(choose_statement(words, words));
  end_sentence();
}

// A few tries find a form that fits; the brief one always does. Which way the form goes is drawn first,
// so that what fits cannot favour one.
Composer::Statement Composer::choose_statement(uint64_t fewest, uint64_t most) {
  bool keeps = chance(kKeeping);
  for (int tries = 0; tries < 12 && most > 6 && !chance(kBrief); ++tries) {
    const StatementFamily& family = grammar_.families[random_.below(grammar_.families.size())];
    Statement found{
        &choose(family.openers[keeps]), &choose(family.rests[keeps]), keeps, family.comma, false, 0};
    uint64_t fixed = found.opener->words + found.rest->words;
    if (fixed + family.shortest_gap > most || fixed + kLongestGap < fewest) continue;
    uint64_t lowest = std::max<uint64_t>(family.shortest_gap, fewest > fixed ? fewest - fixed : 0);
    uint64_t highest = std::min<uint64_t>(kLongestGap, most - fixed);
    found.gap = static_cast<unsigned>(lowest + random_.below(highest - lowest + 1));
    return found;
  }
  Statement brief{nullptr, nullptr, keeps, false, true, 0};
  do {
    brief.opener = &choose(grammar_.brief.openers[keeps]);
    brief.rest = &choose(grammar_.brief.rests[keeps]);
  } while (brief.words() > most);
  if (brief.words() < fewest) brief.gap = static_cast<unsigned>(fewest - brief.words());
  return brief;
}

void Composer::statement(const Statement& chosen) {
  bool judged_good = good_ == chosen.keeps;
  pattern(*chosen.opener, judged_good);
  text_->push_back(' ');
  if (!chosen.gap_last) {
    gap(chosen.gap);
    text_->append(chosen.comma ? ", " : " ");
  }
  pattern(*chosen.rest, judged_good);
  if (chosen.gap_last && chosen.gap > 0) {
    text_->push_back(' ');
    gap(chosen.gap);
  }
}

void Composer::begin_sentence() {
  if (!text_->empty()) text_->push_back(paragraphs_ && chance(24) ? '\n' : ' ');
  sentence_begin_ = text_->size();
}

void Composer::end_sentence() {
  char& first = (*text_)[sentence_begin_];
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  auto kind = random_.next() & 63;
  text_->append(kind < 56 ? "." : kind < 61 ? "!" : "...");
}

void Composer::pattern(const Pattern& pattern, bool judged_good) {
  for (const Piece& piece : pattern.pieces) {
    text_->append(piece.text);
    if (piece.slot != Slot::none) slot(piece.slot, judged_good);
  }
  left_ -= pattern.words;
}

void Composer::gap(unsigned words) {
  auto longest = static_cast<unsigned>(grammar_.filler.size() - 1);
  while (words > 0) {
    auto now = std::min(words, 2 + static_cast<unsigned>(random_.below(longest - 1)));
    if (words - now == 1) now = now < longest ? now + 1 : now - 1;
    pattern(choose(grammar_.filler[now]), true);
    words -= now;
    if (words > 0) text_->push_back(' ');
  }
}

void Composer::slot(Slot slot, bool judged_good) {
  auto of = [&](const WordList& list, unsigned octaves) {
    return list[zipf_rank(random_, octaves) % list.size()];
  };
  switch (slot) {
    case Slot::judged:
      return word(of(lexicon_.judged[judged_good], Lexicon::judged_octaves));
    case Slot::act:
      return word(lexicon_.acts[judged_good][random_.below(lexicon_.acts[judged_good].size())]);
    case Slot::thing:
      return word(lexicon_.things[thing_rank()]);
    case Slot::name:
      if (chance(128)) return word(lexicon_.names[(product_.number >> 8) % lexicon_.names.size()]);
      return word(of(lexicon_.names, Lexicon::name_octaves));
    case Slot::product:
      return word(lexicon_.products[product_.number % lexicon_.products.size()]);
    case Slot::aspect:  // a product has eight of them
      return word(lexicon_.aspects[(product_.number % 61 + random_.below(8)) % lexicon_.aspects.size()]);
    case Slot::degree:
      return word(of(lexicon_.degrees, 3));
    case Slot::person:
      return word(lexicon_.people[random_.below(lexicon_.people.size())]);
    case Slot::wrapping:
      return word(lexicon_.wrappings[random_.below(lexicon_.wrappings.size())]);
    case Slot::none:
      return;
  }
}

// Half of the rarer words come from the eighth of the vocabulary that belongs to the kind of product.
uint64_t Composer::thing_rank() {
  uint64_t rank = zipf_rank(random_, Lexicon::thing_octaves);
  if (rank < 127 || (random_.next() & 1)) return rank;
  unsigned octave = static_cast<unsigned>(std::bit_width(rank + 1)) - 1;
  uint64_t first = uint64_t{1} << octave, eighth = product_.number % lexicon_.products.size() % 8;
  return (first | (eighth << (octave - 3)) | ((rank + 1) & ((first >> 3) - 1))) - 1;
}

void Composer::word(std::string_view word) {
  if (needs_an(word) && text_->ends_with("a ") &&
      (text_->size() == sentence_begin_ + 2 || !is_letter((*text_)[text_->size() - 3])))
    text_->insert(text_->size() - 1, 1, 'n');
  if (chance(kTypo))
    append_typo(word, random_, *text_);
  else
    text_->append(word);
}

}  // namespace paceline
