#include "engine/model/packed_grain.h"

#include <algorithm>
#include <numeric>

#include "data/text/vocabulary.h"

namespace paceline {

void PackedGrain::pack(std::span<const std::span<const uint32_t>> texts, uint64_t max_length) {
  const auto length_of = [&](uint32_t text) {
    const uint64_t size = std::max<uint64_t>(1, texts[text].size());
    return static_cast<uint32_t>(max_length > 0 ? std::min(size, max_length) : size);
  };
  samples.resize(texts.size());
  std::iota(samples.begin(), samples.end(), 0u);
  std::stable_sort(samples.begin(), samples.end(),
                   [&](uint32_t a, uint32_t b) { return length_of(a) > length_of(b); });
  std::vector<uint32_t> first_number(texts.size() + 1, 0);
  for (uint32_t i = 0; i < texts.size(); ++i) first_number[i + 1] = first_number[i] + length_of(i);
  lengths.clear();
  for (uint32_t sample : samples) lengths.push_back(length_of(sample));

  begin.assign(1, 0);
  const uint32_t longest = lengths.empty() ? 0 : lengths[0];
  for (uint32_t moment = 0, count = static_cast<uint32_t>(lengths.size()); moment < longest; ++moment) {
    while (lengths[count - 1] <= moment) --count;
    begin.push_back(begin.back() + count);
  }
  const size_t rows = begin.back();
  ids.resize(rows);
  numbers.resize(rows);
  before.resize(rows);
  reversed.resize(rows);
  for (uint32_t s = 0; s < lengths.size(); ++s)
    for (uint32_t p = 0; p < lengths[s]; ++p) {
      const size_t at = begin[p] + s;
      const auto& text = texts[samples[s]];
      ids[at] = text.empty() ? Vocabulary::unknown_id : text[p];
      numbers[at] = first_number[samples[s]] + p;
      before[at] = p > 0 ? begin[p - 1] + s : begin.back();
      reversed[at] = begin[lengths[s] - 1 - p] + s;
    }
}

}  // namespace paceline
