#include "base/machine/doctor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>

#include "base/error.h"
#include "base/machine/resources.h"

namespace paceline {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The share of the machine's time that went to its neighbours since it was created.
class StealMeter {
 public:
  StealMeter() : begin_(std::chrono::steady_clock::now()), steal_(sample_resources().steal_seconds) {}
  double share(unsigned cores) const {
    std::optional<double> now = sample_resources().steal_seconds;
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    if (!now || !steal_ || passed.count() < 0.5) return 0;
    return std::clamp((*now - *steal_) / (passed.count() * cores), 0.0, 1.0);
  }

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<double> steal_;
};

// Tile instructions are not used for float32; any other trap would take us with it.
bool survives_libtorch(const MachineFacts& facts) {
  if (!facts.capability_override.empty() && !facts.onednn_override.empty()) return true;
  return std::none_of(facts.cpu.sets.begin(), facts.cpu.sets.end(),
                      [](const auto& set) { return set.is_trap() && !set.name.starts_with("amx"); });
}

}  // namespace

MachineFacts gather_facts(const DoctorOptions& options) {
  StealMeter steal;
  MachineFacts facts;
  facts.limits = read_limits();
  facts.cpu = examine_cpu(options.probe_program);
  facts.capability_override = environment("ATEN_CPU_CAPABILITY");
  facts.onednn_override = environment("ONEDNN_MAX_CPU_ISA");
  facts.gpus = examine_gpus();
  // Both ask programs that may take their time to say nothing.
  std::future<SlurmFacts> slurm = std::async(std::launch::async, [] { return examine_slurm(); });
  facts.mpi = examine_mpi();
  facts.slurm = slurm.get();
  throw_if_interrupted();
  facts.disk = examine_disk(options.folder, options.measure);
  throw_if_interrupted();
  unsigned threads = facts.limits.usable_cores();
  if (options.measure)
    facts.speed = measure_speed(threads, facts.limits.usable_memory(), kernel_capability(facts.cpu));
  if (options.examine_engine && survives_libtorch(facts))
    facts.engine = options.examine_engine(options.measure ? threads : 0);
  if (options.measure) facts.steal_share = steal.share(facts.limits.logical_cores);
  return facts;
}

}  // namespace paceline
