// BERT's WordPiece: from a text to the ids of its pieces. The rules are a format (docs/formats/wordpiece.md):
// the ids are those of Hugging Face's BertTokenizerFast, for every input.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/text/piece_trie.h"
#include "data/text/short_words.h"
#include "data/text/vocabulary.h"
#include "data/text/wordpiece_normalizer.h"

namespace paceline {

// Immutable and shared by threads.
class WordPiece {
 public:
  static constexpr int version = 1;

  // Ids of the pieces that are not text. Of a vocabulary that Vocabulary::load_pieces has read.
  struct Special {
    uint32_t unknown, begin, end;       // [UNK], [CLS], [SEP]
    std::optional<uint32_t> pad, mask;  // [PAD], [MASK]; a vocabulary may lack them
  };

  // What a call needs, one for each thread. It only grows.
  class Scratch {
    friend class WordPiece;
    std::vector<char> text_;
    std::vector<uint64_t> words_, symbols_;
    std::vector<uint32_t> ids_;
    std::vector<PendingMark> marks_;
  };

  WordPiece(Vocabulary pieces, const WordPieceRules& rules);

  // The text's ids, without [CLS] and [SEP] around it. What stands in the text as "[SEP]", in these very
  // letters, is that piece. Ill-formed UTF-8 is left out. Valid until the next call with this scratch.
  std::span<const uint32_t> encode(std::string_view text, Scratch& scratch) const;

  const Special& special() const { return special_; }
  const Vocabulary& pieces() const { return pieces_; }
  const WordPieceRules& rules() const { return rules_; }

 private:
  struct Literal {
    size_t position, length;
    uint32_t id;
  };
  std::optional<Literal> find_literal(std::string_view text, size_t from) const;
  size_t encode_plain(std::string_view text, size_t count, Scratch& scratch) const;
  uint32_t* match_words(const char* text, size_t size, const Scratch& scratch, uint32_t* out) const;
  uint32_t* match_pieces(std::string_view word, uint32_t* out) const;

  Vocabulary pieces_;
  WordPieceRules rules_;
  Special special_;
  std::vector<std::pair<std::string_view, uint32_t>> literals_;
  WordPieceNormalizer normalizer_;
  PieceTrie trie_;
  ShortWords short_words_;
};

}  // namespace paceline
