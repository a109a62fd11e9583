#include "data/generate/grammar.h"

#include <utility>

#include "base/error.h"
#include "data/generate/phrases.h"

namespace paceline {
namespace {

Slot slot_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Slot> slots[] = {
      {"judged", Slot::judged},   {"act", Slot::act},       {"degree", Slot::degree},
      {"thing", Slot::thing},     {"name", Slot::name},     {"person", Slot::person},
      {"product", Slot::product}, {"aspect", Slot::aspect}, {"wrapping", Slot::wrapping}};
  for (const auto& [known, slot] : slots)
    if (known == name) return slot;
  PACELINE_ASSERT(!"a known slot");
  return Slot::none;
}

StatementFamily opener_decides(std::string_view turning, std::string_view keeping, std::string_view rest,
                               bool comma) {
  Patterns rests = parse_patterns(rest);
  return {{parse_patterns(turning), parse_patterns(keeping)}, {rests, rests}, 2, comma};
}

StatementFamily rest_decides(std::string_view opener, std::string_view turning, std::string_view keeping) {
  Patterns openers = parse_patterns(opener);
  return {{openers, openers}, {parse_patterns(turning), parse_patterns(keeping)}, 2, false};
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

Grammar::Grammar()
    : brief(opener_decides(phrases::brief_turning, phrases::brief_keeping, phrases::brief_rest, false)),
      other_openers(parse_patterns(phrases::other_product)),
      other_rests(parse_patterns(phrases::other_rest)),
      concessions(parse_patterns(phrases::concession)),
      plainly{parse_patterns(phrases::plainly_bad), parse_patterns(phrases::plainly_good)},
      neutral(parse_patterns(phrases::neutral)) {
  families.push_back(opener_decides(phrases::feel_turning, phrases::feel_keeping, phrases::feel_rest, false));
  families.push_back(opener_decides(phrases::is_turning, phrases::is_keeping, phrases::is_rest, true));
  families.push_back(opener_decides(phrases::plan_turning, phrases::plan_keeping, phrases::plan_rest, false));
  families.push_back(rest_decides(phrases::claim, phrases::claim_turning, phrases::claim_keeping));
  for (Pattern& pattern : parse_patterns(phrases::filler)) {
    if (filler.size() <= pattern.words) filler.resize(pattern.words + 1);
    filler[pattern.words].push_back(std::move(pattern));
  }
}

}  // namespace paceline
