#include "base/machine/speed.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Calls work(thread), which returns an amount per second, on all threads at once, and adds the rates.
double on_threads(unsigned threads, const std::function<double(unsigned, std::barrier<>&)>& work) {
  std::vector<double> rates(threads);
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::jthread> crew;
  for (unsigned i = 1; i < threads; ++i) crew.emplace_back([&, i] { rates[i] = work(i, start); });
  rates[0] = work(0, start);
  crew.clear();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

void triad(float* __restrict a, const float* __restrict b, const float* __restrict c, float s, size_t n) {
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
  // The compiler must believe that somebody reads the result.
  __asm__ volatile("" : : "r"(a) : "memory");
}

constexpr int chains = 8;  // independent sums hide the latency of one multiply-add

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) float multiply_avx2(int rounds, float x) {
  __m256 sum[chains], factor = _mm256_set1_ps(x);
  for (int i = 0; i < chains; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < chains; ++i) sum[i] = _mm256_fmadd_ps(sum[i], factor, factor);
  for (int i = 1; i < chains; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) float multiply_avx512(int rounds, float x) {
  __m512 sum[chains], factor = _mm512_set1_ps(x);
  for (int i = 0; i < chains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < chains; ++i) sum[i] = _mm512_fmadd_ps(sum[i], factor, factor);
  for (int i = 1; i < chains; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

#endif

// Four lanes, as every 64-bit processor has; a multiplication and an addition, two roundings.
float multiply_plain(int rounds, float x) {
  float sum[chains][4];
  for (int i = 0; i < chains; ++i)
    for (float& lane : sum[i]) lane = static_cast<float>(i);
  for (int round = 0; round < rounds; ++round)
    for (auto& chain : sum)
      for (float& lane : chain) lane = lane * x + x;
  float total = 0;
  for (auto& chain : sum) total += chain[0] + chain[1] + chain[2] + chain[3];
  return total;
}

struct Multiply {
  float (*run)(int, float);
  double lanes;
};

Multiply choose(std::string_view capability) {
#if defined(__x86_64__)
  if (capability == "avx512") return {multiply_avx512, 16};
  if (capability == "avx2") return {multiply_avx2, 8};
#endif
  return {multiply_plain, 4};
}

}  // namespace

double measure_memory(unsigned threads, uint64_t memory_bytes, double seconds) {
  size_t n = std::max<size_t>(memory_bytes / (3 * sizeof(float) * threads), 1024);
  return on_threads(threads, [&](unsigned, std::barrier<>& start) {
    std::vector<float> a(n, 0.0f), b(n, 1.0f), c(n, 2.0f);
    start.arrive_and_wait();
    Clock::time_point begin = Clock::now();
    double passed = 0, bytes = 0;
    while (passed < seconds) {
      triad(a.data(), b.data(), c.data(), 0.5f, n);
      bytes += static_cast<double>(3 * sizeof(float) * n);
      passed = since(begin);
    }
    return bytes / passed / 1e9;
  });
}

double measure_multiply(unsigned threads, std::string_view capability, double seconds) {
  Multiply multiply = choose(capability);
  return on_threads(threads, [&](unsigned, std::barrier<>& start) {
    constexpr int rounds = 200'000;  // some milliseconds
    volatile float factor = 0.5f, result = 0;
    start.arrive_and_wait();
    Clock::time_point begin = Clock::now();
    double passed = 0, best = 0;
    while (passed < seconds) {
      result = multiply.run(rounds, factor);
      double now = since(begin);
      best = std::max(best, 2.0 * rounds * chains * multiply.lanes / (now - passed));
      passed = now;
    }
    (void)result;
    return best / 1e9;
  });
}

SpeedFacts measure_speed(unsigned threads, uint64_t usable_memory, std::string_view capability) {
  constexpr uint64_t enough = 192'000'000;
  uint64_t bytes = usable_memory == 0 ? enough : std::min(enough, usable_memory / 8);
  SpeedFacts facts;
  facts.threads = threads;
  facts.memory_one = measure_memory(1, bytes);
  facts.multiply_one = measure_multiply(1, capability);
  facts.memory_all = threads == 1 ? facts.memory_one : measure_memory(threads, bytes);
  facts.multiply_all = threads == 1 ? facts.multiply_one : measure_multiply(threads, capability);
  return facts;
}

}  // namespace paceline
