#include "data/text/wordpiece_characters.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "data/text/wordpiece_unicode.h"

namespace paceline {
namespace {

namespace unicode = wordpiece_unicode;
using unicode::Range;

constexpr Range hangul_syllables = {0xAC00, 0xD7A3};
// The blocks that BERT calls Chinese characters.
constexpr Range ideographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

constexpr int32_t entry(CharacterKind kind, int32_t value = 0) {
  return value * 8 + static_cast<int32_t>(kind);
}

bool is_plain(int32_t character) { return (character & 7) == static_cast<int32_t>(CharacterKind::plain); }

bool is_punctuation(char32_t value) {
  const auto after = std::ranges::upper_bound(unicode::punctuation, value, {}, &Range::first);
  return after != unicode::punctuation.begin() && value <= std::prev(after)->last;
}

void fill(std::vector<int32_t>& entries, std::span<const Range> ranges, int32_t value) {
  for (const Range& range : ranges)
    std::fill(entries.begin() + range.first, entries.begin() + range.last + 1, value);
}

// Calls action(code point, what it becomes) for a list of "code point, count, code points".
template <typename Action>
void for_each_mapping(std::span<const char32_t> list, Action action) {
  for (size_t at = 0; at < list.size(); at += 2 + list[at + 1])
    action(list[at], list.subspan(at + 2, list[at + 1]));
}

}  // namespace

const WordPieceCharacters& WordPieceCharacters::of(const WordPieceRules& rules) {
  static std::mutex mutex;
  static std::unique_ptr<const WordPieceCharacters> tables[8];
  const std::lock_guard lock(mutex);
  auto& table = tables[(rules.lowercase ? 1 : 0) + (rules.strip_accents ? 2 : 0) +
                       (rules.tokenize_chinese_chars ? 4 : 0)];
  if (!table) table = std::make_unique<const WordPieceCharacters>(rules);
  return *table;
}

// In the reference's order the rules are: clean, set ideographs apart, decompose, leave out marks, lower,
// split. Here the later ones are entered first, so that the earlier ones have the last word.
WordPieceCharacters::WordPieceCharacters(const WordPieceRules& rules) {
  std::vector<int32_t> entries(code_points, entry(CharacterKind::plain));
  for (const Range& range : unicode::punctuation)
    fill(entries, std::span(&range, 1), entry(CharacterKind::punctuation));
  if (rules.lowercase) lower_letters(entries);
  if (rules.strip_accents) take_accents(entries);
  if (rules.tokenize_chinese_chars)
    for (const Range& range : ideographs)
      for (char32_t value = range.first; value <= range.last; ++value) {
        PACELINE_ASSERT(is_plain(entries[value]));
        entries[value] += entry(CharacterKind::ideograph);
      }
  fill(entries, unicode::spaces, entry(CharacterKind::space));
  fill(entries, unicode::removed, entry(CharacterKind::removed));
  fold(entries);
}

int32_t WordPieceCharacters::becoming(char32_t value, std::span<const char32_t> result) {
  if (result.size() == 1) {
    const auto kind = is_punctuation(result[0]) ? CharacterKind::punctuation : CharacterKind::plain;
    return entry(kind, static_cast<int32_t>(result[0]) - static_cast<int32_t>(value));
  }
  const auto begin = static_cast<int32_t>(several_.size());
  several_.push_back(static_cast<char32_t>(result.size()));
  several_.insert(several_.end(), result.begin(), result.end());
  return entry(CharacterKind::several, begin);
}

void WordPieceCharacters::lower_letters(std::vector<int32_t>& entries) {
  for (const auto& shift : unicode::lower)
    for (char32_t value = shift.first; value <= shift.last; value += shift.step)
      entries[value] = entry(CharacterKind::plain, shift.distance);
  for_each_mapping(unicode::lower_to_several,
                   [&](char32_t value, auto result) { entries[value] = becoming(value, result); });
}

// What a code point decomposes into decomposes no further, so its own entry is only about lower case.
void WordPieceCharacters::take_accents(std::vector<int32_t>& entries) {
  std::vector<char32_t> result;
  std::vector<std::pair<char32_t, int32_t>> changes;
  for_each_mapping(unicode::decompositions, [&](char32_t value, auto parts) {
    result.assign(parts.begin(), parts.end());
    for (char32_t& part : result)
      if (is_plain(entries[part])) part += static_cast<char32_t>(entries[part] >> 3);
    changes.emplace_back(value, becoming(value, result));
  });
  for (const auto& [value, change] : changes) entries[value] = change;
  fill(entries, std::span(&hangul_syllables, 1), entry(CharacterKind::hangul));
  fill(entries, unicode::dropped_marks, entry(CharacterKind::removed));
  fill(entries, unicode::dropped_starters, entry(CharacterKind::removed, 1));
  for (const auto& mark : unicode::kept_marks)
    for (char32_t value = mark.first; value <= mark.last; ++value)
      entries[value] = entry(CharacterKind::mark);
}

void WordPieceCharacters::fold(const std::vector<int32_t>& entries) {
  std::map<std::vector<int32_t>, uint16_t> seen;
  for (uint32_t page = 0; page < page_of_.size(); ++page) {
    const auto begin = entries.begin() + page * page_size;
    std::vector<int32_t> content(begin, begin + page_size);
    const auto [found, is_new] = seen.try_emplace(std::move(content), static_cast<uint16_t>(seen.size()));
    if (is_new) pages_.insert(pages_.end(), begin, begin + page_size);
    page_of_[page] = found->second;
  }
}

uint8_t WordPieceCharacters::order_of(char32_t mark) {
  for (const auto& kept : unicode::kept_marks)
    if (mark >= kept.first && mark <= kept.last) return kept.order;
  return 0;
}

}  // namespace paceline
