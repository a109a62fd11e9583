// The vocabulary of generated reviews: about 196,000 types before typos, the same for every seed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace paceline {

// Words in one array, by rank.
class WordList {
 public:
  WordList() = default;
  explicit WordList(std::string_view words_separated_by_blanks);
  void add(std::string_view word);
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t rank) const {
    size_t begin = rank == 0 ? 0 : ends_[rank - 1];
    return std::string_view(letters_).substr(begin, ends_[rank] - begin);
  }

 private:
  std::string letters_;
  std::vector<uint32_t> ends_;
};

// A rank in [0, 2^octaves - 1) by Zipf's law with exponent one, in whole numbers: every octave of ranks
// is equally likely, and so is every rank of an octave.
inline uint64_t zipf_rank(RandomStream& random, unsigned octaves) {
  uint64_t bits = random.next();
  auto octave = static_cast<unsigned>(((bits >> 32) * octaves) >> 32);
  uint64_t first = uint64_t{1} << octave;
  return first - 1 + (bits & (first - 1));
}

struct Lexicon {
  Lexicon();
  static constexpr unsigned thing_octaves = 17, name_octaves = 16, judged_octaves = 6;
  WordList things;              // 131,071: common nouns, then compounds of two of them
  WordList names;               // 65,535 invented brand names
  WordList judged[2], acts[2];  // [0] bad, [1] good
  WordList products, aspects, wrappings, people, degrees;
};

// One slip of the finger inside the word: a letter left out, doubled, or swapped with the next.
void append_typo(std::string_view word, RandomStream& random, std::string& out);

}  // namespace paceline
