#include "data/generate/comment_composer.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

namespace paceline {
namespace {

// In 256ths: how often the next sentence is one that is due, how often a long comment repeats itself, how
// often something harmless with a telling word stands in an unpleasant comment.
constexpr unsigned kDue = 96, kRepeat = 20, kAlsoMentions = 48;
// How often a statement is a clause in a frame, and a frame has an aside.
constexpr unsigned kFramed = 140, kAside = 88;
// How often comments are signed, headed, in quotes, without capitals; in capitals throughout, calm and
// furious.
constexpr unsigned kSigned = 56, kHeaded = 28, kQuoted = 10, kCasual = 24, kShouts = 3, kShoutsInFury = 80;
// In words: what is kept free for every statement still to come; from where on comments have paragraphs,
// repeat themselves, and are signed.
constexpr uint64_t kShort = 3, kParagraphs = 40, kRepeats = 40, kSignable = 20;
// After so many other sentences, what is due is said.
constexpr unsigned kLongestWait = 4;

void to_upper(std::string& text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
}

}  // namespace

uint64_t CommentComposer::compose(RandomStream random, Content content, uint64_t words, std::string& text) {
  begin_text(random, text);
  written_ = 0;
  topic_ = zipf_rank(random_, Lexicon::name_octaves);
  addressee_ = random_.next();
  stride_ = random_.next() >> 32;
  turn_ = 0;
  casual_ = chance(kCasual);
  paragraphs_ = words > kParagraphs;
  headed_ = false;
  const Pattern* signed_by = words >= kSignable && chance(kSigned) ? &choose(grammar_.signatures) : nullptr;
  plan(content, words - (signed_by ? signed_by->words : 0));
  if (room_ >= kSignable && chance(kHeaded)) heading();

  size_t said = 0;
  for (unsigned waited = 0; said < due_.size() || room_ > 0;) {
    if (said < due_.size() && (room_ == 0 || waited == kLongestWait || chance(kDue))) {
      statement(due_[said++]);
      waited = 0;
    } else if (said == due_.size() && said > 0 && room_ >= kRepeats && chance(kRepeat)) {
      const Statement again = repeat(content, room_);
      room_ -= again.words();
      statement(again);
    } else {
      neutral_sentence();
      ++waited;
    }
  }
  if (signed_by) signature(*signed_by);
  if (chance(content.says(Saying::fury) ? kShoutsInFury : kShouts)) to_upper(text);
  if (chance(kQuoted)) text.insert(0, 1, '"').push_back('"');
  return written_;
}

// Chooses what has to be said, in any order, and what room it leaves.
void CommentComposer::plan(Content content, uint64_t room) {
  due_.clear();
  auto left = static_cast<uint64_t>(std::popcount(content.sayings));
  const bool mentions = content.mentions || (left > 0 && room >= kSignable && chance(kAlsoMentions));
  left += mentions;
  auto add = [&](const Statement& chosen) {
    due_.push_back(chosen);
    room -= std::min<uint64_t>(room, chosen.words());
  };
  auto available = [&] { return room - std::min(room, --left * kShort); };
  const auto first = static_cast<unsigned>(random_.below(saying_count));
  for (unsigned i = 0; i < saying_count; ++i) {
    const auto saying = static_cast<Saying>((first + i) % saying_count);
    if (content.says(saying)) add(choose_statement(saying, true, available()));
  }
  if (mentions) {
    add(choose_mention(available()));
    std::swap(due_.back(), due_[random_.below(due_.size())]);
  }
  room_ = room;
}

CommentComposer::Statement CommentComposer::choose_mention(uint64_t room) {
  // What has no harmless sentences is only mentioned in a frame, which takes its room.
  constexpr uint64_t longest_framed = 32;
  constexpr Saying mentioned[] = {Saying::insult,   Saying::insult,   Saying::insult, Saying::insult,
                                  Saying::coarse,   Saying::coarse,   Saying::coarse, Saying::coarse,
                                  Saying::identity, Saying::identity, Saying::threat, Saying::threat,
                                  Saying::hostile,  Saying::hostile,  Saying::fury};
  Saying saying = mentioned[random_.below(std::size(mentioned))];
  if ((saying == Saying::hostile || saying == Saying::fury) && room < longest_framed) saying = Saying::insult;
  return choose_statement(saying, false, room);
}

// A few tries find one that fits; else it is the shortest there is.
CommentComposer::Statement CommentComposer::choose_statement(Saying saying, bool attacks, uint64_t room) {
  const CommentGrammar::Wordings& wordings = grammar_.sayings[static_cast<size_t>(saying)];
  const Patterns& sentences = attacks ? wordings.direct : wordings.harmless;
  const bool framed = !wordings.clauses.empty() && (sentences.empty() || chance(kFramed));
  for (int tries = 0; tries < 12; ++tries) {
    Statement found{nullptr, nullptr, nullptr, attacks};
    if (framed && (tries < 6 || sentences.empty())) {
      found.frame = &choose(grammar_.frames[attacks]);
      if (chance(kAside)) found.aside = &choose(grammar_.asides);
      found.rest = &choose(wordings.clauses);
    } else {
      found.rest = &choose(sentences);
    }
    if (found.words() <= room) return found;
  }
  const auto shortest =
      std::min_element(sentences.begin(), sentences.end(),
                       [](const Pattern& a, const Pattern& b) { return a.words < b.words; });
  return {nullptr, nullptr, &*shortest, attacks};
}

CommentComposer::Statement CommentComposer::repeat(Content content, uint64_t room) {
  if (content.sayings == 0) return choose_mention(room);
  auto skip = random_.below(static_cast<uint64_t>(std::popcount(content.sayings)));
  unsigned saying = 0;
  while (!content.says(static_cast<Saying>(saying)) || skip-- > 0) ++saying;
  return choose_statement(static_cast<Saying>(saying), true, room);
}

void CommentComposer::statement(const Statement& chosen) {
  begin();
  if (chosen.frame) {
    put(*chosen.frame);
    if (chosen.aside) {
      text_->append(", ");
      put(*chosen.aside);
      text_->push_back(',');
    }
    text_->append(" that ");
    ++written_;
  }
  put(*chosen.rest);
  end(chosen.attacks);
}

void CommentComposer::neutral_sentence() {
  enum { asks, edits, states };
  const bool first = written_ == 0;
  const uint64_t longest_brief = std::min<uint64_t>(room_, grammar_.brief.size() - 1);
  if (chance(24)) return brief_sentence(1 + random_.below(longest_brief));
  for (int tries = 0; tries < 6; ++tries) {
    const auto kind = chance(36) ? asks : chance(112) ? edits : states;
    const Pattern& core = kind == asks    ? next(grammar_.questions)
                          : kind == edits ? next(grammar_.edits)
                                          : next(grammar_.facts);
    const Pattern *before = nullptr, *behind = nullptr;
    if (chance(first ? 128 : 48)) before = &choose(first ? grammar_.greetings : grammar_.openers);
    if (kind != asks && chance(96)) behind = &choose(kind == edits ? grammar_.reasons : grammar_.remarks);
    const uint64_t words = core.words + (before ? before->words : 0) + (behind ? behind->words : 0);
    if (words > room_) continue;
    room_ -= words;
    begin();
    if (before) {
      put(*before);
      text_->append(", ");
    }
    put(core);
    if (behind) {
      text_->append(kind == edits ? " " : ", ");
      put(*behind);
    }
    return end(false);
  }
  brief_sentence(longest_brief);
}

// Another one every time, as long as there are any: a comment does not repeat itself at random.
const Pattern& CommentComposer::next(const Patterns& patterns) {
  uint64_t step = stride_ % patterns.size();
  while (std::gcd(step, patterns.size()) != 1) ++step;
  return patterns[((addressee_ >> 8) + step * turn_++) % patterns.size()];
}

void CommentComposer::brief_sentence(uint64_t words) {
  room_ -= words;
  begin();
  put(choose(grammar_.brief[words]));
  end(false);
}

void CommentComposer::heading() {
  const Pattern& chosen = choose(grammar_.headings);
  room_ -= chosen.words;
  begin();
  put(chosen);
  headed_ = true;
}

void CommentComposer::signature(const Pattern& signed_by) {
  text_->append(chance(96) ? "\n" : " ");
  put(signed_by);
}

void CommentComposer::begin() {
  const char* separator = " ";
  if (headed_)
    separator = "\n";
  else if (paragraphs_ && chance(24))
    separator = chance(64) ? "\n:" : "\n\n";
  headed_ = false;
  begin_sentence(separator);
}

void CommentComposer::end(bool heated) {
  const auto kind = random_.next() & 63;
  const char* mark = kind < (heated ? 40 : 58)   ? "."
                     : kind < (heated ? 54 : 60) ? "!"
                     : kind < 62                 ? "..."
                                                 : "!!";
  end_sentence(text_->back() == '?' ? "" : mark, !casual_);
}

}  // namespace paceline
