#include "data/text/ascii_words.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/text/ascii_words.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Signed bytes: what is beyond ASCII is negative. At most 64 lanes, so that a block of 64 bits is whole
// vectors.
using Bytes = hn::CappedTag<int8_t, 64>;

template <class V>
HWY_INLINE HWY_ATTR V Lowered(V bytes) {
  const Bytes d;
  const auto upper = hn::And(hn::Gt(bytes, hn::Set(d, 'A' - 1)), hn::Lt(bytes, hn::Set(d, 'Z' + 1)));
  return hn::Add(bytes, hn::IfThenElseZero(upper, hn::Set(d, 'a' - 'A')));
}

HWY_ATTR size_t CopyPrintableAscii(const char* in, size_t size, char* out, bool lowercase) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  int8_t last[vector_slack] = {};  // zeros end the copy
  for (size_t at = 0;; at += lanes) {
    const int8_t* from = reinterpret_cast<const int8_t*>(in) + at;
    if (size - at < lanes) {
      std::memcpy(last, from, size - at);
      from = last;
    }
    const auto bytes = hn::LoadU(d, from);
    hn::StoreU(lowercase ? Lowered(bytes) : bytes, d, reinterpret_cast<int8_t*>(out) + at);
    const auto other = hn::Or(hn::Lt(bytes, hn::Set(d, ' ')), hn::Eq(bytes, hn::Set(d, 0x7F)));
    const intptr_t found = hn::FindFirstTrue(d, other);
    if (found >= 0) return at + static_cast<size_t>(found);
  }
}

HWY_ATTR void MarkWords(const char* text, size_t size, uint64_t* words, uint64_t* symbols) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  uint8_t bits[2][16] = {};
  for (size_t block = 0; block * 64 < size; ++block) {
    for (size_t at = 0; at < 64; at += lanes) {
      const auto bytes = hn::LoadU(d, reinterpret_cast<const int8_t*>(text) + block * 64 + at);
      const auto lower = hn::Or(bytes, hn::Set(d, 0x20));
      const auto letter = hn::And(hn::Gt(lower, hn::Set(d, 'a' - 1)), hn::Lt(lower, hn::Set(d, 'z' + 1)));
      const auto digit = hn::And(hn::Gt(bytes, hn::Set(d, '0' - 1)), hn::Lt(bytes, hn::Set(d, '9' + 1)));
      const auto word = hn::Or(hn::Or(letter, digit), hn::Lt(bytes, hn::Zero(d)));
      const auto symbol = hn::AndNot(word, hn::Gt(bytes, hn::Set(d, ' ')));
      hn::StoreMaskBits(d, word, bits[0] + at / 8);
      hn::StoreMaskBits(d, symbol, bits[1] + at / 8);
    }
    std::memcpy(&words[block], bits[0], 8);
    std::memcpy(&symbols[block], bits[1], 8);
  }
}

}  // namespace paceline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {

static_assert(std::endian::native == std::endian::little, "bytes of bits are read as one number");
HWY_EXPORT(CopyPrintableAscii);
HWY_EXPORT(MarkWords);

size_t copy_printable_ascii(const char* in, size_t size, char* out, bool lowercase) {
  return HWY_DYNAMIC_DISPATCH(CopyPrintableAscii)(in, size, out, lowercase);
}

void mark_words(const char* text, size_t size, uint64_t* words, uint64_t* symbols) {
  HWY_DYNAMIC_DISPATCH(MarkWords)(text, size, words, symbols);
}

}  // namespace paceline
#endif
