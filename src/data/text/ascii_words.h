// Vectorised loops over the bytes of a text.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paceline {

// How many bytes behind the end the loops below may touch, at most a vector's.
inline constexpr size_t vector_slack = 64;

// Copies bytes up to the first that is neither printable ASCII nor a space, in lower case when asked, and
// returns how many. out has room for size + vector_slack.
size_t copy_printable_ascii(const char* in, size_t size, char* out, bool lowercase);

// One bit a byte, the first byte in the lowest bit: whether it belongs to a word (a letter, a digit, beyond
// ASCII), or is another visible ASCII character. vector_slack zeros stand behind the text; the bits reach
// to the end of the last 64 bytes, and there is room for one number more.
void mark_words(const char* text, size_t size, uint64_t* words, uint64_t* symbols);

}  // namespace paceline
