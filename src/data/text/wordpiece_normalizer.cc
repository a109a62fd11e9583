#include "data/text/wordpiece_normalizer.h"

#include <algorithm>

#include "data/text/ascii_words.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

bool is_printable_ascii(char c) { return c >= ' ' && c < 0x7F; }

char* put_code_point(char* out, char32_t value) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (value < 0x80) {
    *out++ = byte(value);
  } else if (value < 0x800) {
    *out++ = byte(0xC0 | (value >> 6));
    *out++ = byte(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    *out++ = byte(0xE0 | (value >> 12));
    *out++ = byte(0x80 | ((value >> 6) & 0x3F));
    *out++ = byte(0x80 | (value & 0x3F));
  } else {
    *out++ = byte(0xF0 | (value >> 18));
    *out++ = byte(0x80 | ((value >> 12) & 0x3F));
    *out++ = byte(0x80 | ((value >> 6) & 0x3F));
    *out++ = byte(0x80 | (value & 0x3F));
  }
  return out;
}

}  // namespace

class WordPieceNormalizer::Writer {
 public:
  Writer(const WordPieceCharacters& characters, std::vector<PendingMark>& marks, char* out)
      : characters_(characters), marks_(marks), out_(out) {
    marks_.clear();
  }

  char*& out() { return out_; }

  void take(char32_t value) {
    const auto character = characters_.at(value);
    const auto becomes = static_cast<char32_t>(static_cast<int32_t>(value) + character.value);
    switch (character.kind) {
      case CharacterKind::plain:
        end_marks();
        out_ = put_code_point(out_, becomes);
        break;
      case CharacterKind::removed:
        if (character.value != 0) end_marks();
        break;
      case CharacterKind::space:
        end_marks();
        *out_++ = ' ';
        break;
      case CharacterKind::punctuation:
      case CharacterKind::ideograph:
        end_marks();
        *out_++ = ' ';
        out_ = put_code_point(out_, becomes);
        *out_++ = ' ';
        break;
      case CharacterKind::mark:
        marks_.push_back({WordPieceCharacters::order_of(value), value});
        break;
      case CharacterKind::several:
        for (char32_t part : characters_.several(character.value)) take(part);
        break;
      case CharacterKind::hangul:
        end_marks();
        take_apart(value);
        break;
    }
  }

  // What follows is a starter: marks that stood before it are put down in their order.
  void end_marks() {
    if (marks_.empty()) return;
    std::ranges::stable_sort(marks_, {}, &PendingMark::order);
    for (const PendingMark& mark : marks_) out_ = put_code_point(out_, mark.value);
    marks_.clear();
  }

 private:
  // Unicode 15, section 3.12: a syllable is a number in a system of 28 last and 21 middle sounds.
  void take_apart(char32_t syllable) {
    const char32_t index = syllable - 0xAC00;
    out_ = put_code_point(out_, 0x1100 + index / (21 * 28));
    out_ = put_code_point(out_, 0x1161 + index % (21 * 28) / 28);
    if (index % 28 != 0) out_ = put_code_point(out_, 0x11A7 + index % 28);
  }

  const WordPieceCharacters& characters_;
  std::vector<PendingMark>& marks_;
  char* out_;
};

size_t WordPieceNormalizer::normalize(std::string_view text, char* out,
                                      std::vector<PendingMark>& marks) const {
  Writer writer(characters_, marks, out);
  for (size_t at = 0; at < text.size();) {
    const size_t copied = copy_printable_ascii(text.data() + at, text.size() - at, writer.out(), lowercase_);
    at += copied;
    writer.out() += copied;
    while (at < text.size() && !is_printable_ascii(text[at])) {
      const DecodedCodePoint point = decode_code_point(text, at);
      writer.take(point.value);
      at += point.length;
    }
    writer.end_marks();
  }
  return static_cast<size_t>(writer.out() - out);
}

}  // namespace paceline
