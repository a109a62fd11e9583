// From facts to words that a student understands.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/machine/doctor.h"

namespace paceline {
namespace {

using State = Finding::State;

std::string count(uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

Finding judge_cores(const MachineLimits& limits) {
  unsigned usable = limits.usable_cores();
  std::string cores = count(limits.logical_cores, "core");
  std::string advice = fmt::format("--executors defaults to {}", usable);
  if (limits.quota && limits.quota->cores < limits.affinity_cores)
    return {State::note, "cores",
            fmt::format("{}, of which this container may use {:.4g} ({})", cores, limits.quota->cores,
                        limits.quota->source),
            advice};
  if (limits.affinity_cores < limits.logical_cores)
    return {State::note, "cores",
            fmt::format("{}, of which this process may use {} (CPU affinity)", cores, limits.affinity_cores),
            advice};
  return {State::ok, "cores", cores, advice};
}

Finding judge_memory(const MachineLimits& limits) {
  constexpr uint64_t too_little = 500'000'000, tight = 2'000'000'000;
  uint64_t usable = limits.usable_memory();
  if (usable == 0) return {State::note, "memory", "unknown: /proc/meminfo says nothing", ""};
  std::string found = limits.memory_total == 0 ? "unknown size" : human_bytes(limits.memory_total);
  if (limits.memory_limit)
    found += fmt::format(", of which this container may use {} ({})", human_bytes(limits.memory_limit->bytes),
                         limits.memory_limit->source);
  found += fmt::format("; {} free now", human_bytes(usable));
  if (usable < too_little)
    return {State::fix, "memory", found,
            "training needs 0.5 GB at the least: close programs or raise the limit"};
  if (usable < tight)
    return {State::note, "memory", found,
            "enough for ngram; larger models need about 2 GB: close programs or raise the limit"};
  return {limits.memory_limit ? State::note : State::ok, "memory", found, ""};
}

std::string joined(const Cpu& cpu, bool (*wanted)(const InstructionSet&)) {
  std::string result;
  for (const InstructionSet& set : cpu.sets)
    if (wanted(set)) result += (result.empty() ? "" : " ") + set.name;
  return result;
}

void judge_instruction_sets(const MachineFacts& facts, std::vector<Finding>& findings) {
  const char* subject = "instruction sets";
  std::string proven = joined(facts.cpu, [](const auto& set) { return set.proof == IsaProof::works; });
  std::string untested =
      joined(facts.cpu, [](const auto& set) { return set.enabled && set.proof == IsaProof::untested; });
  std::string off = joined(facts.cpu, [](const auto& set) { return set.advertised && !set.enabled; });
  if (!proven.empty())
    findings.push_back({State::ok, subject, proven, "each was executed in a child process"});
  if (!untested.empty())
    findings.push_back(
        {State::note, subject, untested + ": advertised, but no child process could test it", ""});
  if (!off.empty())
    findings.push_back({State::note, subject,
                        off + ": in the processor, but kept off by the operating system",
                        "nothing to do: libraries leave it alone"});
}

// A set that libraries will choose and then die of. Tile instructions serve reduced precision only.
void judge_traps(const MachineFacts& facts, std::vector<Finding>& findings) {
  for (const InstructionSet& set : facts.cpu.sets) {
    if (!set.is_trap()) continue;
    const char* how = set.proof == IsaProof::hangs   ? "hangs when used"
                      : set.proof == IsaProof::wrong ? "computes wrong results"
                                                     : "dies when used";
    std::string found = fmt::format("{}: advertised, but {}", set.name, how);
    bool tile = set.name.starts_with("amx"), wide = set.name.starts_with("avx512");
    bool essential = !tile && !wide;
    const char* capability = essential ? "default" : "avx2";
    const char* onednn = tile ? "AVX512_CORE_BF16" : wide ? "AVX2" : "SSE41";
    bool avoided = !facts.onednn_override.empty() && (tile || !facts.capability_override.empty());
    std::string advice;
    if (avoided) {
      advice = "the environment's limits (ONEDNN_MAX_CPU_ISA) keep it unused";
    } else if (tile) {
      advice = fmt::format("float32 works; for bfloat16 set ONEDNN_MAX_CPU_ISA={} first", onednn);
    } else {
      advice = fmt::format("set ATEN_CPU_CAPABILITY={} and ONEDNN_MAX_CPU_ISA={} before training", capability,
                           onednn);
    }
    findings.push_back({avoided || tile ? State::note : State::fix, "instruction sets", found, advice});
  }
}

Finding judge_kernel_class(const MachineFacts& facts) {
  std::string capability = kernel_capability(facts.cpu);
  if (facts.capability_override.empty())
    return {State::ok, "kernel class", fmt::format("{}, {}", facts.cpu.vendor, capability),
            "a run repeats its bits on machines of the same class"};
  return {State::note, "kernel class",
          fmt::format("{}, {} (ATEN_CPU_CAPABILITY, instead of {})", facts.cpu.vendor,
                      facts.capability_override, capability),
          "unset ATEN_CPU_CAPABILITY for full speed"};
}

Finding judge_gpu(const Gpu& gpu, const MachineFacts& facts) {
  std::string found =
      fmt::format("{}, {}, compute capability {}.{}, driver {}", gpu.name, human_bytes(gpu.memory_bytes),
                  gpu.major, gpu.minor, facts.gpus.driver_version);
  const std::optional<std::string>& cuda = facts.engine.cuda;
  if (!cuda)
    return {State::note, "GPU", found, "whether LibTorch can drive it is unknown without the engine"};
  if (cuda->empty())
    return {State::note, "GPU", found,
            "the linked LibTorch is for CPUs alone; build with the cuda preset to use it"};
  if (!libtorch_can_drive(gpu.major, gpu.minor, *cuda))
    return {State::note, "GPU", found,
            fmt::format("the linked LibTorch (CUDA {}) cannot drive it: {}, or train on the CPU", *cuda,
                        gpu.major >= 10 ? "build with one for CUDA 12.8 or newer"
                                        : "build with LibTorch 2.7 for CUDA 12.6")};
  if (facts.gpus.driver_cuda != 0 && !driver_can_run(facts.gpus.driver_cuda, *cuda))
    return {State::note, "GPU", found,
            fmt::format("the driver is too old for CUDA {}: update it, or train on the CPU", *cuda)};
  return {State::ok, "GPU", found, "use it with --device cuda"};
}

void judge_gpus(const MachineFacts& facts, std::vector<Finding>& findings) {
  if (facts.gpus.gpus.empty())
    findings.push_back({State::note, "GPU",
                        facts.gpus.driver ? "none behind the NVIDIA driver" : facts.gpus.problem,
                        "training runs on the CPU cores"});
  for (const Gpu& gpu : facts.gpus.gpus) findings.push_back(judge_gpu(gpu, facts));
}

Finding judge_mpi(const MpiFacts& mpi) {
  const char* install = "one worker trains without it; for several: apt install openmpi-bin";
  if (!mpi.mpirun) return {State::note, "MPI", "no mpirun on PATH", install};
  if (!mpi.problem.empty())
    return {State::note, "MPI", fmt::format("{} does not run: {}", mpi.mpirun->string(), mpi.problem),
            install};
  if (mpi.library.empty()) return {State::note, "MPI", mpi.version + ", but no libmpi.so to load", install};
  std::string found = fmt::format("{}, {}", mpi.version, mpi.library);
  if (mpi.version.find("Open MPI") == std::string::npos)
    return {State::note, "MPI", found, std::string("workers speak through Open MPI; ") + install};
  return {State::ok, "MPI", found, ""};
}

Finding judge_slurm(const SlurmFacts& slurm) {
  if (!slurm.srun && !slurm.sinfo) return {State::note, "Slurm", "no srun on PATH", "only --slurm needs it"};
  std::string version = slurm.version.empty() ? "version unknown" : slurm.version;
  if (!slurm.srun || !slurm.sinfo)
    return {State::note, "Slurm",
            fmt::format("{}, but no {} on PATH", version, slurm.srun ? "sinfo" : "srun"),
            "install Slurm's client programs before using --slurm"};
  if (!slurm.answers)
    return {State::note, "Slurm",
            fmt::format("{}, but its controller does not answer: {}", version, slurm.problem),
            "ask whoever runs the cluster before using --slurm"};
  return {State::ok, "Slurm", fmt::format("{}, {}", version, count(slurm.nodes, "node")), ""};
}

Finding judge_disk(const DiskFacts& disk) {
  constexpr uint64_t too_little = 200'000'000, tight = 5'000'000'000;
  if (disk.free_bytes == 0 && !disk.problem.empty())
    return {State::fix, "disk", disk.problem, "choose another folder with --folder"};
  std::string found =
      fmt::format("{}: {}, {} free", disk.folder.string(), disk.filesystem, human_bytes(disk.free_bytes));
  if (disk.write_mb_per_s > 0) found += fmt::format(", writes {:.0f} MB/s", disk.write_mb_per_s);
  if (!disk.problem.empty())
    return {State::fix, "disk", found + "; " + disk.problem,
            "choose a folder that you may write to with --folder"};
  if (disk.free_bytes < too_little)
    return {State::fix, "disk", found, "a run has no room here: free some space"};
  if (disk.free_bytes < tight) return {State::note, "disk", found, "enough for small data sets only"};
  if (disk.memory)
    return {State::note, "disk", found,
            "files here take memory and are gone after a restart: keep runs elsewhere"};
  if (disk.network)
    return {State::note, "disk", found,
            "a network file system: prepare data sets on a local disk where there is one"};
  if (disk.write_mb_per_s > 0 && disk.write_mb_per_s < 50)
    return {State::note, "disk", found, "slow: checkpoints of large models will take their time"};
  return {State::ok, "disk", found, ""};
}

void judge_engine(const EngineFacts& engine, std::vector<Finding>& findings) {
  if (!engine.problem.empty()) {
    findings.push_back({State::fix, "engine", "engine not available: " + engine.problem,
                        "nothing can be trained without it: build with PACELINE_ENGINE=ON"});
  } else if (!engine.libtorch_version.empty()) {
    bool cuda = engine.cuda && !engine.cuda->empty();
    findings.push_back(
        {State::ok, "engine",
         fmt::format("LibTorch {}{}", engine.libtorch_version, cuda ? ", CUDA " + *engine.cuda : ""), ""});
  }
}

void judge_speed(const MachineFacts& facts, std::vector<Finding>& findings) {
  const SpeedFacts& speed = facts.speed;
  auto pair = [&](double one, double all, const char* unit) {
    std::string text = fmt::format("{:.3g} {} on one core", one, unit);
    return speed.threads > 1 ? text + fmt::format(", {:.3g} on {}", all, speed.threads) : text;
  };
  if (speed.memory_one > 0)
    findings.push_back({State::ok, "memory speed", pair(speed.memory_one, speed.memory_all, "GB/s"), ""});
  if (speed.multiply_one > 0)
    findings.push_back({State::ok, "arithmetic", pair(speed.multiply_one, speed.multiply_all, "Gflop/s"),
                        "float32 multiply-adds; no matrix product is faster"});
  if (facts.engine.gemm_one > 0)
    findings.push_back({State::ok, "matrix product",
                        pair(facts.engine.gemm_one, facts.engine.gemm_all, "Gflop/s"),
                        "float32, by LibTorch"});
  bool throttled = speed.threads > 1 && speed.multiply_all < 0.6 * speed.multiply_one * speed.threads;
  if (throttled && !facts.limits.quota)
    findings.push_back({State::note, "arithmetic",
                        fmt::format("{} cores give {:.1f} times the speed of one", speed.threads,
                                    speed.multiply_all / speed.multiply_one),
                        "other programs are running, or the cores are hyper-threads: try fewer --executors"});
  if (facts.steal_share > 0.05)
    findings.push_back({State::note, "virtual machine",
                        fmt::format("{:.0f} % of the cores' time goes to other machines on this host",
                                    100 * facts.steal_share),
                        "measured speeds will vary"});
}

}  // namespace

std::string_view to_string(State state) {
  return state == State::ok ? "OK" : state == State::note ? "note" : "FIX";
}

bool needs_fixing(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.state == State::fix; });
}

std::vector<Finding> judge(const MachineFacts& facts) {
  std::vector<Finding> findings;
  findings.push_back(judge_cores(facts.limits));
  findings.push_back(judge_memory(facts.limits));
  for (const std::string& file : facts.limits.not_understood)
    findings.push_back(
        {State::note, "limits", file + " makes no sense", "taken as no limit; set --executors yourself"});
  findings.push_back({State::ok, "processor", fmt::format("{} ({})", facts.cpu.model, facts.cpu.vendor), ""});
  judge_instruction_sets(facts, findings);
  judge_traps(facts, findings);
  findings.push_back(judge_kernel_class(facts));
  judge_gpus(facts, findings);
  findings.push_back(judge_mpi(facts.mpi));
  findings.push_back(judge_slurm(facts.slurm));
  findings.push_back(judge_disk(facts.disk));
  judge_engine(facts.engine, findings);
  judge_speed(facts, findings);
  return findings;
}

}  // namespace paceline
