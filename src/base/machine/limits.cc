#include "base/machine/limits.h"

#include <algorithm>
#include <cmath>

#include "base/machine/cgroup.h"
#include "base/machine/proc.h"

namespace paceline {
namespace {

// A quota and its period, both in microseconds, as the kernel writes them.
std::optional<double> cores_of(std::string_view quota, std::string_view period) {
  std::optional<uint64_t> time = parse_number(quota), of = parse_number(period);
  if (!time || !of || *time == 0 || *of == 0) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(*of);
}

class LimitReader {
 public:
  explicit LimitReader(MachineLimits& limits) : limits_(limits) {}

  void read_cpu(const CgroupFolders& groups) {
    for (const fs::path& folder : groups.folders)
      groups.version == CgroupVersion::v2 ? read_cpu_v2(folder) : read_cpu_v1(folder);
  }

  void read_memory(const CgroupFolders& groups) {
    bool v2 = groups.version == CgroupVersion::v2;
    for (const fs::path& folder : groups.folders) {
      fs::path file = folder / (v2 ? "memory.max" : "memory.limit_in_bytes");
      std::optional<std::string> text = read_proc(file);
      if (!text || trimmed(*text) == "max" || trimmed(*text) == "-1") continue;
      std::optional<uint64_t> bytes = parse_number(*text);
      if (!bytes) {
        limits_.not_understood.push_back(file.string());
        continue;
      }
      // Version 1 writes "no limit" as a number larger than any memory.
      if (limits_.memory_total != 0 && *bytes >= limits_.memory_total) continue;
      if (*bytes >= uint64_t{1} << 62) continue;
      take_memory(*bytes, v2 ? "cgroup v2 memory.max" : "cgroup v1 memory.limit_in_bytes");
      read_use(folder, v2, *bytes);
    }
  }

 private:
  void read_cpu_v2(const fs::path& folder) {
    std::optional<std::string> text = read_proc(folder / "cpu.max");
    if (!text) return;
    std::string_view line = trimmed(*text);
    size_t space = std::min(line.find(' '), line.size());
    std::string_view quota = line.substr(0, space);
    std::string_view period = space == line.size() ? "100000" : line.substr(space);
    if (quota == "max") return;
    take_cpu(cores_of(quota, period), "cgroup v2 cpu.max", folder / "cpu.max");
  }

  void read_cpu_v1(const fs::path& folder) {
    std::optional<std::string> quota = read_proc(folder / "cpu.cfs_quota_us");
    if (!quota || trimmed(*quota) == "-1") return;
    std::string period = read_proc(folder / "cpu.cfs_period_us").value_or("100000");
    take_cpu(cores_of(*quota, period), "cgroup v1 cpu.cfs_quota_us", folder / "cpu.cfs_quota_us");
  }

  void take_cpu(std::optional<double> cores, const char* source, const fs::path& file) {
    if (!cores) {
      limits_.not_understood.push_back(file.string());
    } else if (!limits_.quota || *cores < limits_.quota->cores) {
      limits_.quota = CpuQuota{*cores, source};
    }
  }

  void take_memory(uint64_t bytes, const char* source) {
    if (!limits_.memory_limit || bytes < limits_.memory_limit->bytes)
      limits_.memory_limit = MemoryLimit{bytes, source};
  }

  // The kernel counts cached files as used, but gives the inactive ones back when memory runs short.
  void read_use(const fs::path& folder, bool v2, uint64_t limit) {
    std::string use = read_proc(folder / (v2 ? "memory.current" : "memory.usage_in_bytes")).value_or("0");
    std::string statistics = read_proc(folder / "memory.stat").value_or("");
    uint64_t used = parse_number(use).value_or(0);
    uint64_t cached = proc_number(statistics, v2 ? "inactive_file" : "total_inactive_file").value_or(0);
    used -= std::min(used, cached);
    uint64_t left = limit - std::min(limit, used);
    limits_.free_in_limit = std::min(limits_.free_in_limit.value_or(left), left);
  }

  MachineLimits& limits_;
};

void read_cores(MachineLimits& limits, const fs::path& root) {
  std::string online = read_proc(root / "sys/devices/system/cpu/online").value_or("");
  std::string status = read_proc(root / "proc/self/status").value_or("");
  std::optional<unsigned> allowed = count_cpu_list(proc_field(status, "Cpus_allowed_list").value_or(""));
  limits.logical_cores = count_cpu_list(online).value_or(allowed.value_or(1));
  // The mask may name processors that the machine has no longer or not yet.
  limits.affinity_cores = std::min(allowed.value_or(limits.logical_cores), limits.logical_cores);
}

}  // namespace

unsigned MachineLimits::usable_cores() const {
  double cores = affinity_cores;
  if (quota) cores = std::min(cores, std::ceil(quota->cores));
  return std::max(1u, static_cast<unsigned>(cores));
}

uint64_t MachineLimits::usable_memory() const {
  uint64_t available = memory_available != 0 ? memory_available : memory_total;
  if (!free_in_limit) return available;
  return available == 0 ? *free_in_limit : std::min(available, *free_in_limit);
}

MachineLimits read_limits(const fs::path& root) {
  MachineLimits limits;
  read_cores(limits, root);
  std::string memory = read_proc(root / "proc/meminfo").value_or("");
  limits.memory_total = proc_number(memory, "MemTotal").value_or(0);
  limits.memory_available = proc_number(memory, "MemAvailable").value_or(0);
  LimitReader reader(limits);
  for (const CgroupFolders& groups : find_cgroups("cpu", root)) reader.read_cpu(groups);
  for (const CgroupFolders& groups : find_cgroups("memory", root)) reader.read_memory(groups);
  return limits;
}

unsigned usable_cores() { return read_limits().usable_cores(); }
uint64_t usable_memory() { return read_limits().usable_memory(); }

}  // namespace paceline
