#include "data/generate/lengths.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace paceline {
namespace {

// 0 when the text is not a number of words that is allowed.
uint64_t parse_words(std::string_view text) {
  uint64_t words = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), words);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && words >= Lengths::fewest && words <= Lengths::most ? words : 0;
}

}  // namespace

Lengths::Lengths(std::string_view option) {
  if (option.empty()) return;
  size_t dash = option.find('-');
  if (dash == std::string_view::npos) {
    median_ = parse_words(option);
    if (median_ > 0) return;
  } else {
    median_ = 0;
    low_ = parse_words(option.substr(0, dash));
    high_ = parse_words(option.substr(dash + 1));
    if (low_ > 0 && high_ >= low_) return;
  }
  input_error("--length {}: expected a median such as 40, or a range such as 3-8, in words from {} to {}",
              option, fewest, most);
}

// Sixteen random bytes add up to a bell curve with a deviation of 295.6 around 2040. The sum becomes an
// exponent of two, in 65536ths, so that the logarithm of the length deviates by 1.1; between powers of
// two the length grows linearly. Whole numbers only, so every machine draws the same lengths.
uint64_t Lengths::draw(RandomStream& random) const {
  if (median_ == 0) return low_ + random.below(high_ - low_ + 1);
  int64_t sum = -2040;
  for (int draws = 0; draws < 2; ++draws)
    for (uint64_t bits = random.next(); bits != 0; bits >>= 8) sum += static_cast<int64_t>(bits & 255);
  constexpr int64_t per_unit = 352;
  int64_t exponent = sum * per_unit;
  int64_t octave = exponent >> 16;
  uint64_t scaled = median_ * static_cast<uint64_t>(65536 + (exponent & 65535));
  uint64_t words = octave >= 0 ? (scaled << octave) >> 16 : scaled >> (16 - octave);
  return std::clamp(words, fewest, most);
}

}  // namespace paceline
