#include "data/text/wordpiece.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "data/text/ascii_words.h"
#include "data/text/find_byte.h"

namespace paceline {
namespace {

constexpr size_t block = 64;

uint32_t id_of(const Vocabulary& pieces, std::string_view piece) {
  const auto id = pieces.find(piece);
  PACELINE_ASSERT(id.has_value());
  return *id;
}

ShortWords short_words_of(const Vocabulary& pieces) {
  ShortWords words(pieces.size());
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces.word(id);
    if (!piece.starts_with(PieceTrie::continuation) && piece.size() <= ShortWords::max_bytes)
      words.add(piece, id);
  }
  return words;
}

template <typename T>
void ensure_size(std::vector<T>& values, size_t size) {
  if (values.size() < size) values.resize(std::max(size, 2 * values.size()));
}

// Where the word ends that the position lies in.
size_t end_of_word(const std::vector<uint64_t>& words, size_t position) {
  for (;;) {
    const size_t left = block - position % block;
    const auto inside = static_cast<size_t>(std::countr_one(words[position / block] >> position % block));
    position += inside;
    if (inside < left) return position;
  }
}

bool is_too_long(std::string_view word) {
  if (word.size() <= PieceTrie::max_word_characters) return false;
  const auto characters = std::ranges::count_if(word, [](char c) { return (c & 0xC0) != 0x80; });
  return static_cast<size_t>(characters) > PieceTrie::max_word_characters;
}

}  // namespace

WordPiece::WordPiece(Vocabulary pieces, const WordPieceRules& rules)
    : pieces_(std::move(pieces)),
      rules_(rules),
      special_{id_of(pieces_, "[UNK]"), id_of(pieces_, "[CLS]"), id_of(pieces_, "[SEP]"),
               pieces_.find("[PAD]"), pieces_.find("[MASK]")},
      normalizer_(rules),
      trie_(pieces_),
      short_words_(short_words_of(pieces_)) {
  for (std::string_view piece : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"})
    if (const auto id = pieces_.find(piece)) literals_.emplace_back(piece, *id);
}

std::span<const uint32_t> WordPiece::encode(std::string_view text, Scratch& scratch) const {
  size_t count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const auto literal = find_literal(text, begin);
    const size_t end = literal ? literal->position : text.size();
    count = encode_plain(text.substr(begin, end - begin), count, scratch);
    if (!literal) break;
    scratch.ids_[count++] = literal->id;
    begin = end + literal->length;
  }
  return {scratch.ids_.data(), count};
}

std::optional<WordPiece::Literal> WordPiece::find_literal(std::string_view text, size_t from) const {
  for (size_t at = find_byte(text, '[', from); at < text.size(); at = find_byte(text, '[', at + 1))
    for (const auto& [piece, id] : literals_)
      if (text.substr(at).starts_with(piece)) return Literal{at, piece.size(), id};
  return std::nullopt;
}

// Appends to the count ids that are there, and leaves room for one more.
size_t WordPiece::encode_plain(std::string_view text, size_t count, Scratch& scratch) const {
  ensure_size(scratch.text_, WordPieceNormalizer::growth * text.size() + 2 * vector_slack);
  char* const normalized = scratch.text_.data();
  const size_t size = normalizer_.normalize(text, normalized, scratch.marks_);
  std::fill_n(normalized + size, vector_slack, '\0');
  ensure_size(scratch.words_, size / block + 3);
  ensure_size(scratch.symbols_, size / block + 3);
  ensure_size(scratch.ids_, count + size + 1);
  mark_words(normalized, size, scratch.words_.data(), scratch.symbols_.data());
  scratch.words_[(size + block - 1) / block] = 0;
  uint32_t* const ids = scratch.ids_.data();
  return static_cast<size_t>(match_words(normalized, size, scratch, ids + count) - ids);
}

// The hot loop. The bits say where words begin and end, so that no branch depends on a word's length, and
// one look-up finds most words whole.
uint32_t* WordPiece::match_words(const char* text, size_t size, const Scratch& scratch, uint32_t* out) const {
  uint64_t before = 0;  // whether a word reaches up to this block, in the lowest bit
  for (size_t b = 0; b * block < size; ++b) {
    const uint64_t words = scratch.words_[b], following = scratch.words_[b + 1];
    uint64_t begins = (words & ~(words << 1 | before)) | scratch.symbols_[b];
    before = words >> 63;
    for (; begins != 0; begins &= begins - 1) {
      const auto at = static_cast<unsigned>(std::countr_zero(begins));
      const char* const word = text + b * block + at;
      const uint64_t from_here = words >> at | following << 1 << (63 - at);
      auto length = static_cast<size_t>(std::countr_one(from_here));
      length += length == 0;  // a symbol
      if (length <= ShortWords::max_bytes) {
        const uint32_t id = short_words_.find(word, length);
        if (id != ShortWords::none) {
          *out++ = id;
          continue;
        }
      } else if (length == block) {
        length = end_of_word(scratch.words_, b * block + at) - b * block - at;
      }
      out = match_pieces({word, length}, out);
    }
  }
  return out;
}

uint32_t* WordPiece::match_pieces(std::string_view word, uint32_t* out) const {
  const size_t count = is_too_long(word) ? 0 : trie_.match(word, out);
  if (count == 0) *out = special_.unknown;
  return out + std::max<size_t>(1, count);
}

}  // namespace paceline
