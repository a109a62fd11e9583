// What this process may use of the machine: cores, CPU quota and memory, whoever set the limit.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

namespace fs = std::filesystem;

struct CpuQuota {
  double cores = 0;    // 1.5: one and a half cores' time
  std::string source;  // "cgroup v2 cpu.max"
};

struct MemoryLimit {
  uint64_t bytes = 0;
  std::string source;  // "cgroup v1 memory.limit_in_bytes"
};

struct MachineLimits {
  unsigned logical_cores = 1;   // online in the machine
  unsigned affinity_cores = 1;  // that this process may be scheduled on (taskset, cpuset, Slurm)
  std::optional<CpuQuota> quota;
  uint64_t memory_total = 0, memory_available = 0;  // of the machine; 0: unknown
  std::optional<MemoryLimit> memory_limit;          // the smallest, where it is below memory_total
  std::optional<uint64_t> free_in_limit;            // what the groups with a limit have left, at least
  std::vector<std::string> not_understood;          // files whose content makes no sense; taken as no limit

  // What --executors defaults to: the smaller of affinity and the quota rounded up, at least 1.
  unsigned usable_cores() const;
  // What can be allocated now without swapping or being killed; 0: unknown.
  uint64_t usable_memory() const;
};

// Reads /proc and /sys under root. A file that is missing sets no limit.
MachineLimits read_limits(const fs::path& root = "/");

unsigned usable_cores();
uint64_t usable_memory();

}  // namespace paceline
