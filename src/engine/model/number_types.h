// The types of numbers in files of weights, and how they become float32. The conversions work on bits, so
// that they depend neither on the machine nor on a thread's floating-point modes.
#pragma once
#include <cstdint>
#include <string_view>

namespace paceline {

struct NumberType {
  std::string_view name;     // as safetensors has it: "F16"
  std::string_view storage;  // as PyTorch has it: "HalfStorage"; empty: it has none
  uint64_t bytes;
  // From little-endian bytes. nullptr: not a type of weights (integers, booleans, …).
  void (*to_floats)(const char* bytes, uint64_t count, float* into);
};

// nullptr when there is none.
const NumberType* find_number_type(std::string_view name);
const NumberType* find_storage_type(std::string_view storage);

}  // namespace paceline
