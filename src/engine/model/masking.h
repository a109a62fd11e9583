// Which pieces of a text are hidden from a masked language model, and what it sees in their place.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/text/vocabulary.h"

namespace paceline {

// What masking needs to know of a vocabulary of pieces.
class PieceKinds {
 public:
  // Throws InputError when there is no [MASK]. file: for the message.
  PieceKinds(const Vocabulary& pieces, const fs::path& file);
  uint32_t size() const { return static_cast<uint32_t>(kinds_.size()); }
  uint32_t mask() const { return mask_; }
  // [PAD], [UNK], [CLS], [SEP], [MASK].
  bool is_special(uint32_t id) const { return kinds_[id] == Kind::special; }
  bool continues_word(uint32_t id) const { return kinds_[id] == Kind::continuation; }

 private:
  enum class Kind : uint8_t { word, continuation, special };
  std::vector<Kind> kinds_;
  uint32_t mask_;
};

struct MaskedPlace {
  uint32_t position;
  uint32_t truth, shown;  // the piece there, and the one that the model sees
  bool operator==(const MaskedPlace&) const = default;
};

// Chooses 15 % of the pieces of a text that are not special, rounded, at least one; of a text with nothing
// but special pieces one of those. Of the chosen ones 80 % are shown as [MASK], 10 % as any piece of the
// vocabulary, 10 % as they are. whole_words: pieces that continue a word are chosen with it; a word that
// would be too much is left out, unless it is the first. The places come in the order of the text, and depend
// on the ids and the key alone.
void choose_masked(const PieceKinds& kinds, bool whole_words, std::span<const uint32_t> ids, uint64_t key,
                   std::vector<MaskedPlace>& places);

// Shows each piece that is not special as [MASK] with this probability; a text of which nothing would be left
// stays whole. What is hidden depends on the ids and the key alone.
void hide_pieces(const PieceKinds& kinds, double probability, uint64_t key, std::span<uint32_t> ids);

}  // namespace paceline
