#include "engine/train/precision.h"

#include "base/error.h"
#include "base/subprocess.h"

namespace paceline {

// Processors promise instructions that their hypervisor does not let anyone use, and a product then ends the
// process: so a child tries it.
void check_precision(const TrainOptions& options) {
  if (options.precision != "bfloat16" || options.device != "cpu") return;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const ProcessResult trial =
      run_process({program.string(), bfloat16_trial}, std::chrono::seconds(60), without_launcher());
  if (trial.succeeded()) return;
  const std::string how = !trial.started      ? "it could not be tried: " + trial.output
                          : trial.timed_out   ? "a trial hung"
                          : trial.signal != 0 ? fmt::format("a trial died of signal {}", trial.signal)
                                              : "a trial gave wrong results";
  input_error(
      "--precision bfloat16: {}; use --precision float32, or try again with "
      "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 in the environment (paceline doctor says more)",
      how);
}

}  // namespace paceline
