#include "data/text/segments.h"

#include <algorithm>

namespace paceline {

SegmentLengths cut_longest_first(SegmentLengths lengths, size_t room) {
  if (lengths.first + lengths.second <= room) return lengths;
  const bool first_is_longer = lengths.first > lengths.second;
  size_t shorter = std::min(lengths.first, lengths.second);
  size_t longer = room - std::min(room, shorter);
  if (longer < shorter) {
    shorter = room / 2;
    longer = room - shorter;
  }
  return first_is_longer ? SegmentLengths{longer, shorter} : SegmentLengths{shorter, longer};
}

bool encode_sequence(const WordPiece& wordpiece, std::string_view text,
                     std::optional<std::string_view> second, uint64_t max_length, WordPiece::Scratch& scratch,
                     Sequence& out) {
  const auto& special = wordpiece.special();
  const auto append = [&](std::string_view segment) {
    const auto ids = wordpiece.encode(segment, scratch);
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    out.ids.push_back(special.end);
    return !ids.empty();
  };
  out.ids.assign(1, special.begin);
  out.second_begin = 0;
  out.truncated = false;
  bool complete = append(text);
  if (second) {
    out.second_begin = static_cast<uint32_t>(out.ids.size());
    complete = append(*second) && complete;
  }
  if (max_length > 0 && out.ids.size() > max_length) {
    out.ids.resize(shorten_sequence(out.ids, out.second_begin, max_length));
    out.truncated = true;
  }
  return complete;
}

size_t shorten_sequence(std::span<uint32_t> ids, uint32_t& second_begin, uint64_t max_length) {
  if (ids.size() <= max_length) return ids.size();
  const uint32_t end = ids.back();
  if (second_begin == 0) {
    ids[max_length - 1] = end;
    return max_length;
  }
  const SegmentLengths before = {second_begin - special_of_one, ids.size() - second_begin - 1};
  const auto kept = cut_longest_first(before, max_length - std::min(max_length, special_of_two));
  const size_t new_begin = kept.first + special_of_one;
  ids[new_begin - 1] = ids[second_begin - 1];
  std::copy_n(ids.begin() + second_begin, kept.second, ids.begin() + static_cast<ptrdiff_t>(new_begin));
  ids[new_begin + kept.second] = end;
  second_begin = static_cast<uint32_t>(new_begin);
  return new_begin + kept.second + 1;
}

}  // namespace paceline
