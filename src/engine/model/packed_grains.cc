#include "engine/model/packed_grains.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "data/text/vocabulary.h"

namespace paceline {

void PackedGrains::pack(std::span<const Text> texts, uint64_t max_length) {
  pack(texts, std::array<uint64_t, 2>{0, texts.size()}, max_length);
}

void PackedGrains::pack(std::span<const Text> texts, std::span<const uint64_t> grain_begin,
                        uint64_t max_length) {
  std::vector<uint32_t> length_of;
  for (const auto& text : texts) {
    const uint64_t size = std::max<uint64_t>(1, text.size());
    length_of.push_back(static_cast<uint32_t>(max_length > 0 ? std::min(size, max_length) : size));
  }
  order_by_length(length_of, grain_begin);
  lay_out_moments();

  for (auto& rows : rows_of) rows.clear();
  rows_of.resize(grain_begin.size() - 1);
  for (size_t p = 0; p < moments(); ++p)
    for (uint32_t s = 0; s < active(p); ++s) rows_of[grains[s]].push_back(begin[p] + s);

  std::vector<uint32_t> first_number(texts.size(), 0);  // of a text's tokens
  for (size_t g = 0; g + 1 < grain_begin.size(); ++g)
    for (size_t i = grain_begin[g] - grain_begin[0] + 1; i < grain_begin[g + 1] - grain_begin[0]; ++i)
      first_number[i] = first_number[i - 1] + length_of[i - 1];
  for (uint32_t s = 0; s < sequences(); ++s) {
    const size_t number = grain_begin[grains[s]] - grain_begin[0] + samples[s];
    const auto& text = texts[number];
    for (uint32_t p = 0; p < lengths[s]; ++p) {
      const size_t at = row(s, p);
      ids[at] = text.empty() ? Vocabulary::unknown_id : text[p];
      numbers[at] = first_number[number] + p;
      before[at] = p > 0 ? begin[p - 1] + s : begin.back();
      reversed[at] = begin[lengths[s] - 1 - p] + s;
    }
  }
}

void PackedGrains::order_by_length(std::span<const uint32_t> length_of,
                                   std::span<const uint64_t> grain_begin) {
  std::vector<uint32_t> order(length_of.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return length_of[a] > length_of[b]; });
  grains.clear();
  samples.clear();
  lengths.clear();
  for (uint32_t text : order) {
    const auto behind = std::upper_bound(grain_begin.begin(), grain_begin.end() - 1, grain_begin[0] + text);
    grains.push_back(static_cast<uint32_t>(behind - grain_begin.begin() - 1));
    samples.push_back(static_cast<uint32_t>(grain_begin[0] + text - *(behind - 1)));
    lengths.push_back(length_of[text]);
  }
}

void PackedGrains::lay_out_moments() {
  begin.assign(1, 0);
  const uint32_t longest = lengths.empty() ? 0 : lengths[0];
  for (uint32_t moment = 0, count = static_cast<uint32_t>(lengths.size()); moment < longest; ++moment) {
    while (lengths[count - 1] <= moment) --count;
    begin.push_back(begin.back() + count);
  }
  for (auto* of_rows : {&ids, &numbers, &before, &reversed}) of_rows->resize(begin.back());
}

}  // namespace paceline
