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

bool bfloat16_is_right() {
  c10::InferenceMode guard;
  at::set_num_threads(1);
  for (const int64_t rows : {1, 7, 64}) {
    const at::Tensor a = at::rand({rows, 384}).to(at::kBFloat16), b = at::rand({1536, 384}).to(at::kBFloat16);
    const at::Tensor wanted = at::linear(a.to(at::kFloat), b.to(at::kFloat));
    const at::Tensor found = at::linear(a, b).to(at::kFloat);
    if (!at::allclose(found, wanted, 0.01, 0)) return false;
  }
  return true;
}

}  // namespace paceline
