// The examination behind `paceline doctor`: facts are gathered first, then judged by a pure function.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/machine/cpu.h"
#include "base/machine/disk.h"
#include "base/machine/gpu.h"
#include "base/machine/limits.h"
#include "base/machine/software.h"
#include "base/machine/speed.h"

namespace paceline {

struct Finding {
  enum class State {
    ok,
    note,  // good to know; training works without it
    fix,   // training stops or dies on this machine until it is fixed
  };
  State state = State::ok;
  std::string subject, found, advice;
};

std::string_view to_string(Finding::State state);  // "OK", "note", "FIX"
bool needs_fixing(const std::vector<Finding>& findings);

// What the engine library told about itself, where it could be opened.
struct EngineFacts {
  std::string problem;                // why it cannot be used; empty: it can
  std::string libtorch_version;       // "2.15.0"
  std::optional<std::string> cuda;    // CUDA of that LibTorch ("13.2"; "": CPU only); nullopt: unknown
  double gemm_one = 0, gemm_all = 0;  // Gflop/s of a float32 matrix product; 0: not measured
};

struct MachineFacts {
  MachineLimits limits;
  Cpu cpu;
  std::string capability_override;  // the environment's ATEN_CPU_CAPABILITY
  std::string onednn_override;      // and ONEDNN_MAX_CPU_ISA
  GpuFacts gpus;
  MpiFacts mpi;
  SlurmFacts slurm;
  DiskFacts disk;
  SpeedFacts speed;
  double steal_share = 0;  // of the cores' time during the examination, taken by other machines
  EngineFacts engine;
};

struct DoctorOptions {
  fs::path folder = ".";                      // whose disk is examined
  fs::path probe_program = "/proc/self/exe";  // answers --probe-isa
  bool measure = true;                        // speeds and disk; about two seconds
  // Opens the engine and measures its matrix product on one and on so many threads (0: does not
  // measure). Called after the instruction sets are proven, and not at all where LibTorch would die.
  std::function<EngineFacts(unsigned threads)> examine_engine;
};

MachineFacts gather_facts(const DoctorOptions& options);
std::vector<Finding> judge(const MachineFacts& facts);

inline std::vector<Finding> examine_machine(const DoctorOptions& options) {
  return judge(gather_facts(options));
}

}  // namespace paceline
