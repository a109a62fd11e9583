// The file system under a folder: its kind, its free space, and how fast it takes data for good.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace paceline {

namespace fs = std::filesystem;

struct DiskFacts {
  fs::path folder;
  std::string filesystem;  // "ext4"
  bool network = false;    // NFS and its like: other machines share it, locks and syncs are slow
  bool memory = false;     // tmpfs: files take memory and are gone after a restart
  uint64_t free_bytes = 0;
  double write_mb_per_s = 0;  // 0: not measured
  std::string problem;        // why not
};

// Writes up to 64 MB of random bytes to a file without a name, synced, for at most about 1.5 s.
DiskFacts examine_disk(const fs::path& folder, bool measure = true);

}  // namespace paceline
