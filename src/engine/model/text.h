// A text as models see it.
#pragma once
#include <cstdint>
#include <span>

namespace paceline {

// The ids of its tokens, which are someone else's memory.
struct Text : std::span<const uint32_t> {
  Text(std::span<const uint32_t> ids, uint32_t second = 0) : span(ids), second_begin(second) {}
  uint32_t second_begin;  // where the second text of a pair begins; 0: there is none
};

}  // namespace paceline
