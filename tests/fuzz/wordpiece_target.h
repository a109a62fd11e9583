// What the fuzz target of WordPiece does with arbitrary bytes: the fast way must find what the plain way
// finds. The tests run the same over the kept corpus.
#pragma once
#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "data/text/segments.h"

namespace paceline {

// A few pieces of each kind, the special ones not where BERT has them.
inline constexpr const char* small_pieces =
    "a\nb\n##a\n##b\n##ab\nab\nabab\n##ba\n[SEP]\n[UNK]\n[CLS]\n[PAD]\n[MASK]\n.\n[\n]\n#\nthe\n##the\n"
    "internationalization\n##ization\nexactlysixteen16\n\xC3\xA9\n##\xC3\xA9\n\xE4\xB8\xAD\n\xE1\x84\x80\n##"
    "\xE1\x85\xA1\n0\n##0\n";

// The words of a normalised text: what stands between spaces, and each ASCII symbol by itself.
inline std::vector<std::string> plain_words(std::string_view normalized) {
  std::vector<std::string> words;
  bool inside = false;
  for (char c : normalized) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c < 0;
    if (c != ' ') {
      if (inside && letter)
        words.back() += c;
      else
        words.emplace_back(1, c);
    }
    inside = letter;
  }
  return words;
}

// The longest piece first, by trying.
inline std::vector<uint32_t> plain_pieces(const WordPiece& wordpiece, const std::string& word) {
  std::vector<uint32_t> ids;
  const auto characters = std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xC0) != 0x80; });
  if (characters > 100) return {wordpiece.special().unknown};
  for (size_t begin = 0; begin < word.size();) {
    size_t length = word.size() - begin;
    std::optional<uint32_t> id;
    for (; length > 0 && !id; --length)
      id = wordpiece.pieces().find((begin > 0 ? "##" : "") + word.substr(begin, length));
    if (!id) return {wordpiece.special().unknown};
    ids.push_back(*id);
    begin += length + 1;
  }
  return ids;
}

inline std::string normalized(const WordPieceNormalizer& normalizer, std::string_view text) {
  std::vector<PendingMark> marks;
  std::string out(WordPieceNormalizer::growth * text.size() + 128, '\0');
  out.resize(normalizer.normalize(text, out.data(), marks));
  return out;
}

inline std::vector<uint32_t> plain_encode(const WordPiece& wordpiece, std::string_view text) {
  const WordPieceNormalizer normalizer(wordpiece.rules());
  std::vector<uint32_t> ids;
  while (!text.empty()) {
    size_t end = text.size(), length = 0;
    uint32_t literal = 0;
    for (const char* piece : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"})
      if (const auto id = wordpiece.pieces().find(piece); id && text.find(piece) < end) {
        end = text.find(piece);
        length = std::strlen(piece);
        literal = *id;
      }
    for (const auto& word : plain_words(normalized(normalizer, text.substr(0, end))))
      for (uint32_t id : plain_pieces(wordpiece, word)) ids.push_back(id);
    if (length > 0) ids.push_back(literal);
    text.remove_prefix(end + length);
  }
  return ids;
}

inline void check_encoding(const WordPiece& wordpiece, std::string_view text) {
  static WordPiece::Scratch scratch;
  const auto ids = wordpiece.encode(text, scratch);
  const auto expected = plain_encode(wordpiece, text);
  PACELINE_ASSERT(std::ranges::equal(ids, expected));
  for (uint32_t id : ids) PACELINE_ASSERT(id < wordpiece.pieces().size());
  for (uint64_t length : {3u, 5u, 8u, 13u}) {
    Sequence pair;
    encode_sequence(wordpiece, text.substr(0, text.size() / 2), text.substr(text.size() / 2), length, scratch,
                    pair);
    PACELINE_ASSERT(pair.ids.size() <= length && pair.ids.back() == wordpiece.special().end);
    PACELINE_ASSERT(pair.ids[pair.second_begin - 1] == wordpiece.special().end);
  }
}

// The first byte chooses the rules, and whether a vocabulary follows, which ends at a zero byte.
inline void check_wordpiece(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  const WordPieceRules rules = {(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
  std::string pieces = small_pieces;
  if ((choice & 8) != 0) {
    const size_t end = std::min(bytes.find('\0'), bytes.size());
    pieces += bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), end + 1));
  }
  try {
    check_encoding(WordPiece(Vocabulary::parse_pieces(pieces, "fuzzed"), rules), bytes);
  } catch (const InputError&) {
  }
}

}  // namespace paceline
