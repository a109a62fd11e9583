// Gflop/s of the program's own float32 products of 2048 on all cores, each core with one of its own. For
// bench/bert: the peak of a machine is the best that anybody reaches on it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/executors.h"
#include "base/machine/limits.h"
#include "engine/kernels/gemm.h"

namespace paceline {
namespace {

constexpr size_t size = 2048;
constexpr int repeats = 12;

struct Product {
  std::vector<float> left = std::vector<float>(size * size, 0.5f), out = std::vector<float>(size * size);
  PackedMatrix right;
  Product() { right.pack(left.data(), size, size, size); }
  void compute() { multiply(size, {left.data(), size}, right, {out.data(), size}, Start::zero); }
};

double gflops() {
  const unsigned cores = read_limits().usable_cores();
  Executors executors(cores);
  std::vector<Product> products(cores);
  const auto run = [&] {
    executors.run(cores, [&](uint64_t number, unsigned) { products[number].compute(); });
  };
  run();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return 2.0 * size * size * size * cores * repeats / seconds / 1e9;
}

}  // namespace
}  // namespace paceline

int main() { fmt::print("{:.1f}\n", paceline::gflops()); }
