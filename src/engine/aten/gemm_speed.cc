#include "engine/aten/gemm_speed.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>

namespace paceline {

std::string libtorch_version() { return TORCH_VERSION; }

double measure_gemm_gflops(unsigned threads) {
  c10::InferenceMode guard;
  at::set_num_threads(static_cast<int>(threads));
  constexpr int64_t n = 1024;
  const at::Tensor a = at::rand({n, n}), b = at::rand({n, n});
  at::Tensor c = at::empty({n, n});
  double best = 0;
  const auto started = std::chrono::steady_clock::now();
  auto now = started;
  while (best == 0 || now - started < std::chrono::milliseconds(300)) {
    const auto begin = now;
    at::mm_out(c, a, b);
    now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin).count();
    best = std::max(best, 2.0 * n * n * n / seconds * 1e-9);
  }
  return best;
}

}  // namespace paceline
