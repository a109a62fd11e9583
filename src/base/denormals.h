// Numbers next to zero that a processor handles a hundred times slower than others.
#pragma once
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace paceline {

// As long as it lives, its thread takes denormal numbers as zero and makes none. A recurrent network's
// gradient decays into them. It is part of the bits, so every thread that computes has one.
class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) { set_control(before_ | flush); }
  ~FlushDenormals() { set_control(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__x86_64__)
  using Register = unsigned;
  static constexpr Register flush = 0x8040;  // flush to zero, denormals are zero
  static Register control() { return _mm_getcsr(); }
  static void set_control(Register value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
  using Register = uint64_t;
  static constexpr Register flush = uint64_t{1} << 24;
  static Register control() {
    Register value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(Register value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
  using Register = unsigned;
  static constexpr Register flush = 0;
  static Register control() { return 0; }
  static void set_control(Register) {}
#endif
  Register before_;
};

}  // namespace paceline
