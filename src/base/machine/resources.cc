#include "base/machine/resources.h"

#include <sys/resource.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "base/machine/proc.h"

namespace paceline {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// The eighth number of the line "cpu": user nice system idle iowait irq softirq steal.
std::optional<double> steal_of(const std::string& statistics) {
  std::optional<std::string_view> line = proc_field(statistics, "cpu");
  if (!line) return std::nullopt;
  std::istringstream numbers{std::string(*line)};
  uint64_t ticks = 0;
  for (int i = 0; i < 8; ++i)
    if (!(numbers >> ticks)) return std::nullopt;
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ResourceSample read_resources(const fs::path& root) {
  ResourceSample sample;
  std::string status = read_proc(root / "proc/self/status").value_or("");
  sample.resident_bytes = proc_number(status, "VmRSS").value_or(0);
  sample.peak_resident_bytes = proc_number(status, "VmHWM").value_or(0);
  std::string io = read_proc(root / "proc/self/io").value_or("");
  sample.bytes_read = proc_number(io, "read_bytes");
  sample.bytes_written = proc_number(io, "write_bytes");
  sample.steal_seconds = steal_of(read_proc(root / "proc/stat").value_or(""));
  return sample;
}

ResourceSample sample_resources() {
  ResourceSample sample = read_resources("/");
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    sample.user_seconds = seconds(usage.ru_utime);
    sample.system_seconds = seconds(usage.ru_stime);
  }
  return sample;
}

}  // namespace paceline
