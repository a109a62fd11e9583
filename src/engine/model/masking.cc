#include "engine/model/masking.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

constexpr uint64_t masked_percent = 15, tenths_masked = 8, tenths_replaced = 1;
enum Purpose : uint64_t { choice = 0, replacement = 1 };

// What is chosen at once: a piece, or a whole word.
struct Unit {
  uint32_t begin, end;
  uint32_t pieces() const { return end - begin; }
};

std::vector<Unit> units_of(const PieceKinds& kinds, bool whole_words, std::span<const uint32_t> ids) {
  std::vector<Unit> units;
  for (uint32_t i = 0; i < ids.size(); ++i) {
    if (kinds.is_special(ids[i])) continue;
    const bool joins = whole_words && kinds.continues_word(ids[i]) && !units.empty() && units.back().end == i;
    if (joins)
      ++units.back().end;
    else
      units.push_back({i, i + 1});
  }
  if (units.empty())
    for (uint32_t i = 0; i < ids.size(); ++i) units.push_back({i, i + 1});
  return units;
}

uint64_t below(uint64_t draw, uint64_t bound) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(draw) * bound) >> 64);
}

uint32_t shown_for(const PieceKinds& kinds, uint32_t truth, uint64_t position, const RandomStream& random) {
  const uint64_t tenth = below(random.at(2 * position), 10);
  if (tenth < tenths_masked) return kinds.mask();
  if (tenth >= tenths_masked + tenths_replaced) return truth;
  return static_cast<uint32_t>(below(random.at(2 * position + 1), kinds.size()));
}

}  // namespace

PieceKinds::PieceKinds(const Vocabulary& pieces, const fs::path& file)
    : kinds_(pieces.size(), Kind::word), mask_(pieces.find("[MASK]").value_or(0)) {
  if (!pieces.find("[MASK]"))
    input_error(
        "{}: it has no [MASK], which stands for hidden pieces (--piece-dropout, or a data set without "
        "labels); prepare the data set again with a vocabulary that has one",
        file.string());
  for (uint32_t id = 0; id < size(); ++id)
    if (pieces.word(id).starts_with("##") && pieces.word(id).size() > 2) kinds_[id] = Kind::continuation;
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    if (const auto id = pieces.find(special)) kinds_[*id] = Kind::special;
}

void choose_masked(const PieceKinds& kinds, bool whole_words, std::span<const uint32_t> ids, uint64_t key,
                   std::vector<MaskedPlace>& places) {
  places.clear();
  std::vector<Unit> units = units_of(kinds, whole_words, ids);
  uint64_t pieces = 0;
  for (const Unit& unit : units) pieces += unit.pieces();
  uint64_t left = std::max<uint64_t>(1, (pieces * masked_percent + 50) / 100);
  RandomStream order({key, choice});
  const RandomStream random({key, replacement});
  for (size_t i = 0; i < units.size() && left > 0; ++i) {
    std::swap(units[i], units[i + order.below(units.size() - i)]);
    if (units[i].pieces() > left && !places.empty()) continue;
    for (uint32_t p = units[i].begin; p < units[i].end; ++p)
      places.push_back({p, ids[p], shown_for(kinds, ids[p], p, random)});
    left -= std::min<uint64_t>(left, units[i].pieces());
  }
  std::ranges::sort(places, {}, &MaskedPlace::position);
}

void hide_pieces(const PieceKinds& kinds, double probability, uint64_t key, std::span<uint32_t> ids) {
  RandomStream random(key);
  std::vector<uint32_t> hidden;
  size_t pieces = 0;
  for (uint32_t i = 0; i < ids.size(); ++i) {
    const bool hide = random.uniform() < probability;
    if (kinds.is_special(ids[i])) continue;
    ++pieces;
    if (hide) hidden.push_back(i);
  }
  if (hidden.size() == pieces) return;
  for (uint32_t i : hidden) ids[i] = kinds.mask();
}

}  // namespace paceline
