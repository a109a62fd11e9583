// Short measurements of what the machine really gives: memory bandwidth and float32 arithmetic.
#pragma once
#include <cstdint>
#include <string_view>

namespace paceline {

struct SpeedFacts {
  unsigned threads = 1;                       // what "all" means
  double memory_one = 0, memory_all = 0;      // GB/s of a triad (a = b + s c; 12 bytes an element)
  double multiply_one = 0, multiply_all = 0;  // Gflop/s of float32 multiply-adds in registers: the roof
};

// GB/s of a triad over arrays much larger than any cache, memory_bytes in all, for about the given time.
double measure_memory(unsigned threads, uint64_t memory_bytes, double seconds = 0.15);

// Gflop/s of independent multiply-adds in registers, which no matrix product exceeds: the best stretch of
// some milliseconds, since other programs only take away. capability is
// kernel_capability's (base/machine/cpu.h): it has to work on this machine.
double measure_multiply(unsigned threads, std::string_view capability, double seconds = 0.1);

// Both, with one thread and with all; takes about half a second and a small part of usable_memory.
SpeedFacts measure_speed(unsigned threads, uint64_t usable_memory, std::string_view capability);

}  // namespace paceline
