#include "engine/score/ordered_score.h"

#include <bit>
#include <cmath>
#include <limits>

namespace paceline {
namespace {

constexpr int64_t half_bits = 0x3F000000, one_bits = 0x3F800000, infinity_bits = 0x7F800000;
constexpr int64_t one_order = 2 * half_bits;

int64_t bits_of(float score) { return std::bit_cast<uint32_t>(score); }
float float_of(int64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

}  // namespace

int64_t score_order(float score) {
  if (score <= 0) return -bits_of(std::fabs(score));
  if (score <= 0.5f) return bits_of(score);
  if (score <= 1) return one_order - bits_of(1 - score);  // 1 - score is exact here
  return one_order + (bits_of(score) - one_bits);
}

float score_from(int64_t order) {
  if (order <= -infinity_bits) return -std::numeric_limits<float>::infinity();
  if (order < 0) return -float_of(-order);
  if (order <= half_bits) return float_of(order);
  if (order > one_order)
    return order - one_order + one_bits < infinity_bits ? float_of(order - one_order + one_bits)
                                                        : std::numeric_limits<float>::infinity();
  const double exact = 1 - static_cast<double>(float_of(one_order - order));
  const float near = static_cast<float>(exact);
  return static_cast<double>(near) < exact ? std::nextafter(near, 2.0f) : near;
}

}  // namespace paceline
