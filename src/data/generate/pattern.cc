#include "data/generate/pattern.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

Slot slot_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Slot> slots[] = {
      {"thing", Slot::thing},       {"name", Slot::name},
      {"person", Slot::person},     {"judged", Slot::judged},
      {"act", Slot::act},           {"degree", Slot::degree},
      {"product", Slot::product},   {"aspect", Slot::aspect},
      {"wrapping", Slot::wrapping}, {"topic", Slot::topic},
      {"title", Slot::title},       {"you", Slot::you},
      {"editor", Slot::editor},     {"section", Slot::section},
      {"number", Slot::number},     {"year", Slot::year},
      {"recent", Slot::recent},     {"month", Slot::month},
      {"day", Slot::day},           {"weekday", Slot::weekday},
      {"clock", Slot::clock},       {"insult", Slot::insult},
      {"coarse", Slot::coarse},     {"oath", Slot::oath},
      {"wreck", Slot::wreck},       {"brand", Slot::brand},
      {"slur", Slot::slur},         {"possession", Slot::possession}};
  for (const auto& [known, slot] : slots)
    if (known == name) return slot;
  PACELINE_ASSERT(!"a known slot");
  return Slot::none;
}

}  // namespace

Pattern::Pattern(std::string_view line) {
  words = 1;
  for (char c : line) words += c == ' ';
  while (!line.empty()) {
    size_t open = line.find('{');
    if (open == std::string_view::npos) {
      pieces.push_back({std::string(line), Slot::none});
      return;
    }
    size_t close = line.find('}', open);
    pieces.push_back({std::string(line.substr(0, open)), slot_of(line.substr(open + 1, close - open - 1))});
    line.remove_prefix(close + 1);
  }
}

Patterns parse_patterns(std::string_view lines) {
  Patterns patterns;
  while (!lines.empty()) {
    size_t end = std::min(lines.find('\n'), lines.size());
    patterns.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return patterns;
}

std::vector<Patterns> parse_patterns_by_words(std::string_view lines) {
  std::vector<Patterns> by_words;
  for (Pattern& pattern : parse_patterns(lines)) {
    if (by_words.size() <= pattern.words) by_words.resize(pattern.words + 1);
    by_words[pattern.words].push_back(std::move(pattern));
  }
  return by_words;
}

}  // namespace paceline
