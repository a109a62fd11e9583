// The control groups this process is in, versions 1 and 2 and both at once.
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

namespace paceline {

namespace fs = std::filesystem;

enum class CgroupVersion { v1, v2 };

// The folder of this process's group for a controller ("cpu", "memory") and those of its parents, as far
// as they can be seen from here, innermost first.
struct CgroupFolders {
  CgroupVersion version;
  std::vector<fs::path> folders;
};

// One entry per hierarchy that may limit the controller. Reads proc/self/cgroup and proc/self/mountinfo
// under root; the folders are under root too.
std::vector<CgroupFolders> find_cgroups(std::string_view controller, const fs::path& root);

}  // namespace paceline
