#include "data/generate/review_composer.h"

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
// How often a statement takes the shortest form, in 256ths.
constexpr unsigned kBrief = 16;
// In words.
constexpr unsigned kLongestGap = 8, kLongestSentence = 16, kLongestPlain = 6;

}  // namespace

void ReviewComposer::compose(RandomStream random, Product product, bool good, uint64_t words,
                             std::string& text) {
  begin_text(random, text);
  product_ = product;
  good_ = good;
  left_ = words;
  paragraphs_ = words > 150;
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

void ReviewComposer::body_sentence(uint64_t room) {
  auto kind = static_cast<unsigned>(random_.next() & 255);
  if (kind < kNeutral)
    return neutral_sentence(static_cast<unsigned>(std::min<uint64_t>(room, 5 + random_.below(9))));
  if (kind >= kNeutral + kStatement + kConcession) return other_product_sentence(room);
  begin();
  if (kind >= kNeutral + kStatement) {
    const Pattern& concession = choose(grammar_.concessions);
    if (concession.words + fewest_words <= room) {
      pattern(concession, good_ != chance(kOpposite));
      text_->push_back(' ');
      room -= concession.words;
    }
  }
  statement(choose_statement(fewest_words, room));
  end();
}

void ReviewComposer::neutral_sentence(unsigned words) {
  begin();
  const Pattern& opener = choose(grammar_.neutral);
  if (opener.words < words) {
    pattern(opener, true);
    text_->push_back(' ');
    gap(words - opener.words);
  } else {
    gap(words);
  }
  end();
}

void ReviewComposer::other_product_sentence(uint64_t room) {
  const Pattern& opener = choose(grammar_.other_openers);
  const Pattern& rest = choose(grammar_.other_rests);
  uint64_t fixed = opener.words + rest.words;
  if (fixed + 2 > room) return neutral_sentence(5);
  begin();
  pattern(opener, true);
  text_->push_back(' ');
  gap(static_cast<unsigned>(std::min<uint64_t>(room - fixed, 2 + random_.below(kLongestGap - 1))));
  text_->push_back(' ');
  pattern(rest, good_ != chance(kOpposite));
  end();
}

void ReviewComposer::plain_sentence() {
  begin();
  pattern(choose(grammar_.plainly[good_]), good_);
  end();
}

void ReviewComposer::last_sentence(uint64_t words) {
  begin();
  const Pattern& concession = choose(grammar_.concessions);
  if (chance(64) && concession.words + fewest_words <= words) {
    pattern(concession, good_ != chance(kOpposite));
    text_->push_back(' ');
    words -= concession.words;
  }
  statement(choose_statement(words, words));
  end();
}

// A few tries find a form that fits; the brief one always does. Which way the form goes is drawn first,
// so that what fits cannot favour one.
ReviewComposer::Statement ReviewComposer::choose_statement(uint64_t fewest, uint64_t most) {
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

void ReviewComposer::statement(const Statement& chosen) {
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

void ReviewComposer::begin() { begin_sentence(!text_->empty() && paragraphs_ && chance(24) ? "\n" : " "); }

void ReviewComposer::end() {
  auto kind = random_.next() & 63;
  end_sentence(kind < 56 ? "." : kind < 61 ? "!" : "...");
}

void ReviewComposer::pattern(const Pattern& pattern, bool judged_good) {
  write(pattern, [&](Slot filled) { slot(filled, judged_good); });
  left_ -= pattern.words;
}

void ReviewComposer::gap(unsigned words) {
  auto longest = static_cast<unsigned>(grammar_.filler.size() - 1);
  while (words > 0) {
    auto now = std::min(words, 2 + static_cast<unsigned>(random_.below(longest - 1)));
    if (words - now == 1) now = now < longest ? now + 1 : now - 1;
    pattern(choose(grammar_.filler[now]), true);
    words -= now;
    if (words > 0) text_->push_back(' ');
  }
}

void ReviewComposer::slot(Slot slot, bool judged_good) {
  switch (slot) {
    case Slot::judged:
      return word(choose(lexicon_.judged[judged_good], Lexicon::judged_octaves));
    case Slot::act:
      return word(choose(lexicon_.acts[judged_good]));
    case Slot::thing:
      return word(lexicon_.things[thing_rank()]);
    case Slot::name:
      if (chance(128)) return word(lexicon_.names[(product_.number >> 8) % lexicon_.names.size()]);
      return word(choose(lexicon_.names, Lexicon::name_octaves));
    case Slot::product:
      return word(lexicon_.products[product_.number % lexicon_.products.size()]);
    case Slot::aspect:  // a product has eight of them
      return word(lexicon_.aspects[(product_.number % 61 + random_.below(8)) % lexicon_.aspects.size()]);
    case Slot::degree:
      return word(choose(lexicon_.degrees, 3));
    case Slot::person:
      return word(choose(lexicon_.people));
    case Slot::wrapping:
      return word(choose(lexicon_.wrappings));
    default:
      PACELINE_ASSERT(!"a slot of reviews");
  }
}

// Half of the rarer words come from the eighth of the vocabulary that belongs to the kind of product.
uint64_t ReviewComposer::thing_rank() {
  uint64_t rank = zipf_rank(random_, Lexicon::thing_octaves);
  if (rank < 127 || (random_.next() & 1)) return rank;
  unsigned octave = static_cast<unsigned>(std::bit_width(rank + 1)) - 1;
  uint64_t first = uint64_t{1} << octave, eighth = product_.number % lexicon_.products.size() % 8;
  return (first | (eighth << (octave - 3)) | ((rank + 1) & ((first >> 3) - 1))) - 1;
}

}  // namespace paceline
