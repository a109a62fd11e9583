// exp and log1p-exp with the same bits on every machine: libm's may differ from CPU to CPU.
#pragma once
#include <bit>
#include <cstdint>

namespace paceline {

// e^x for |x| <= 700, to about 1e-15: additions and multiplications in a fixed order only.
inline double portable_exp(double x) {
  if (x != x) return x;
  if (x > 700) x = 700;
  if (x < -700) x = -700;
  const double shift = 0x1.8p52;
  const double k = (x * 1.4426950408889634 + shift) - shift;
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double sum = 1;
  for (int i = 13; i > 0; --i) sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(k) + 1023) << 52);
}

// Natural logarithm of a normal positive number, to about 1e-15.
inline double portable_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int i = 27; i > 0; i -= 2) sum = sum * s2 + 1.0 / i;
  return static_cast<double>(exponent) * 0.69314718055994531 + 2 * s * sum;
}

}  // namespace paceline
