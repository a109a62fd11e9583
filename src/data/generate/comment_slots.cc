// What the composer of comments puts into the slots of its patterns.
#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "data/generate/comment_composer.h"
#include "data/generate/disguise.h"

namespace paceline {
namespace {

// Most things are everyday words; the rest come from the whole vocabulary.
constexpr unsigned kEveryday = 200, kTellingOctaves = 4;
constexpr uint64_t kEverydayThings = 384;
constexpr uint64_t kFirstYear = 1780, kYears = 233, kFirstRecent = 2003, kRecent = 10;

}  // namespace

void CommentComposer::put(const Pattern& pattern) {
  write(pattern, [&](Slot filled) { slot(filled); });
  written_ += pattern.words;
}

void CommentComposer::slot(Slot slot) {
  auto number = [&](uint64_t value) { fmt::format_to(std::back_inserter(*text_), "{}", value); };
  switch (slot) {
    case Slot::thing:
      if (chance(kEveryday)) return word(lexicon_.things[random_.below(kEverydayThings)]);
      return word(choose(lexicon_.things, Lexicon::thing_octaves));
    case Slot::name:
      return word(choose(lexicon_.names, Lexicon::name_octaves));
    case Slot::person:
      return word(choose(lexicon_.people));
    case Slot::topic:
      return word(lexicon_.names[topic_]);
    case Slot::title:
      return word(lexicon_.titles[mix64(topic_) % lexicon_.titles.size()]);
    case Slot::you:
      return editor(addressee_);
    case Slot::editor:
      return editor(random_.next());
    case Slot::section:
      return word(choose(lexicon_.sections));
    case Slot::number:
      return number(2 + zipf_rank(random_, 9));
    case Slot::year:
      return number(kFirstYear + random_.below(kYears));
    case Slot::recent:
      return number(kFirstRecent + random_.below(kRecent));
    case Slot::month:
      return word(choose(lexicon_.months));
    case Slot::day:
      return number(1 + random_.below(28));
    case Slot::weekday:
      return word(choose(lexicon_.weekdays));
    case Slot::clock: {
      const uint64_t minute = random_.below(1440);
      fmt::format_to(std::back_inserter(*text_), "{:02}:{:02},", minute / 60, minute % 60);
      return;
    }
    case Slot::insult:
      return telling(choose(lexicon_.insults, kTellingOctaves + 1));
    case Slot::coarse:
      return telling(choose(lexicon_.coarse, kTellingOctaves));
    case Slot::oath:
      return telling(choose(lexicon_.oaths));
    case Slot::wreck:
      return telling(choose(lexicon_.wrecks));
    case Slot::slur:
      return telling(choose(lexicon_.slurs));
    case Slot::possession:
      return word(choose(lexicon_.possessions));
    case Slot::brand:
      return word(choose(lexicon_.brands));
    default:
      PACELINE_ASSERT(!"a slot of comments");
  }
}

void CommentComposer::telling(std::string_view plain) {
  if ((random_.next() >> 32) >= disguised_of_2_32_) return word(plain);
  fit_article(plain);
  append_disguised(plain, random_, *text_);
}

// A name, with a number behind it or not; or an address from the ranges kept for documentation.
void CommentComposer::editor(uint64_t number) {
  static constexpr const char* networks[] = {"192.0.2", "198.51.100", "203.0.113"};
  auto out = std::back_inserter(*text_);
  if (number % 8 == 0) {
    fmt::format_to(out, "{}.{}", networks[(number >> 8) % 3], (number >> 16) % 254 + 1);
    return;
  }
  text_->append(lexicon_.names[(number >> 8) % lexicon_.names.size()]);
  if (number % 8 < 3) fmt::format_to(out, "{}", (number >> 40) % 99 + 1);
}

}  // namespace paceline
