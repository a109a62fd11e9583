// What this process has used so far, for the record of a run.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace paceline {

namespace fs = std::filesystem;

struct ResourceSample {
  uint64_t resident_bytes = 0, peak_resident_bytes = 0;  // VmRSS, VmHWM
  double user_seconds = 0, system_seconds = 0;           // CPU time of all threads
  std::optional<uint64_t> bytes_read, bytes_written;     // from and to storage, where it may be known
  std::optional<double>
      steal_seconds;  // that the hypervisor kept from the machine, all cores, since it started
};

// Cheap (some 50 µs); callable from any thread.
ResourceSample sample_resources();
// The part that is read from /proc under root; CPU time stays 0.
ResourceSample read_resources(const fs::path& root);

}  // namespace paceline
