#include "engine/model/number_types.h"

#include <bit>
#include <cstring>

namespace paceline {
namespace {

template <typename Word>
Word word_at(const char* bytes, uint64_t number) {
  Word word;
  std::memcpy(&word, bytes + number * sizeof word, sizeof word);
  return word;
}

float from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1F;
  uint32_t mantissa = half & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  if (mantissa == 0) return std::bit_cast<float>(sign);
  // A denormal half is mantissa * 2^-24, and a normal float.
  const auto shift = static_cast<uint32_t>(std::countl_zero(mantissa)) - 21;
  mantissa = (mantissa << shift) & 0x3FF;
  return std::bit_cast<float>(sign | (113 - shift) << 23 | mantissa << 13);
}

float from_bfloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// value / 2^shift, to the nearest integer, of two equally near ones to the even.
uint64_t shifted_to_nearest(uint64_t value, uint64_t shift) {
  const uint64_t result = value >> shift, rest = value & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return result + (rest > half || (rest == half && (result & 1) != 0) ? 1 : 0);
}

float from_double(uint64_t bits) {
  const auto sign = static_cast<uint32_t>(bits >> 32) & 0x80000000;
  const auto exponent = static_cast<int64_t>((bits >> 52) & 0x7FF) - 1023;
  const uint64_t mantissa = bits & 0xFFFFFFFFFFFFF;
  uint64_t magnitude = 0;
  if (exponent == 1024)
    magnitude = mantissa == 0 ? 0x7F800000 : 0x7FC00000;
  else if (exponent > 127)
    magnitude = 0x7F800000;
  else if (exponent >= -126)  // rounding up may carry into the exponent, as it should
    magnitude = shifted_to_nearest(static_cast<uint64_t>(exponent + 127) << 52 | mantissa, 29);
  else if (exponent >= -150)  // a denormal float, in units of 2^-149
    magnitude = shifted_to_nearest(uint64_t{1} << 52 | mantissa, static_cast<uint64_t>(-97 - exponent));
  return std::bit_cast<float>(sign | static_cast<uint32_t>(magnitude));
}

template <typename Word, float convert(Word)>
void each_to_float(const char* bytes, uint64_t count, float* into) {
  for (uint64_t i = 0; i < count; ++i) into[i] = convert(word_at<Word>(bytes, i));
}

void same_bits(const char* bytes, uint64_t count, float* into) {
  if (count > 0) std::memcpy(into, bytes, count * sizeof(float));
}

constexpr NumberType types[] = {
    {"F32", "FloatStorage", 4, same_bits},
    {"F64", "DoubleStorage", 8, each_to_float<uint64_t, from_double>},
    {"F16", "HalfStorage", 2, each_to_float<uint16_t, from_half>},
    {"BF16", "BFloat16Storage", 2, each_to_float<uint16_t, from_bfloat>},
    {"I64", "LongStorage", 8, nullptr},
    {"I32", "IntStorage", 4, nullptr},
    {"I16", "ShortStorage", 2, nullptr},
    {"I8", "CharStorage", 1, nullptr},
    {"U64", "", 8, nullptr},
    {"U32", "", 4, nullptr},
    {"U16", "", 2, nullptr},
    {"U8", "ByteStorage", 1, nullptr},
    {"BOOL", "BoolStorage", 1, nullptr},
    {"F8_E4M3", "", 1, nullptr},
    {"F8_E5M2", "", 1, nullptr},
    {"F8_E8M0", "", 1, nullptr},
    {"C64", "ComplexFloatStorage", 8, nullptr},
    {"C128", "ComplexDoubleStorage", 16, nullptr},
};

}  // namespace

const NumberType* find_number_type(std::string_view name) {
  for (const NumberType& type : types)
    if (type.name == name) return &type;
  return nullptr;
}

const NumberType* find_storage_type(std::string_view storage) {
  for (const NumberType& type : types)
    if (!storage.empty() && type.storage == storage) return &type;
  return nullptr;
}

}  // namespace paceline
