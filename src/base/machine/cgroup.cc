#include "base/machine/cgroup.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "base/machine/proc.h"

namespace paceline {
namespace {

struct Mount {
  std::string group;  // which group the mount point shows
  std::string point;
  std::string filesystem, options;
};

bool names_controller(std::string_view list, std::string_view controller) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == controller) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// mountinfo writes a space as \040.
std::string unescaped(const std::string& text) {
  std::string result;
  auto octal = [](char c) { return c >= '0' && c <= '7'; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<Mount> read_mounts(const fs::path& root) {
  std::vector<Mount> mounts;
  std::istringstream lines(read_proc(root / "proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string id, parent, device, source;
    Mount mount;
    before >> id >> parent >> device >> mount.group >> mount.point;
    after >> mount.filesystem >> source >> mount.options;
    if (!mount.filesystem.starts_with("cgroup")) continue;
    mount.group = unescaped(mount.group);
    mount.point = unescaped(mount.point);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Where a hierarchy is mounted: from mountinfo, else where every distribution puts it.
Mount find_mount(const std::vector<Mount>& mounts, CgroupVersion version, std::string_view controller) {
  for (const Mount& mount : mounts) {
    if (version == CgroupVersion::v2 && mount.filesystem == "cgroup2") return mount;
    if (version == CgroupVersion::v1 && mount.filesystem == "cgroup" &&
        names_controller(mount.options, controller))
      return mount;
  }
  std::string point = "/sys/fs/cgroup";
  return {"/", version == CgroupVersion::v2 ? point : point + "/" + std::string(controller), "", ""};
}

// The group's path below the mount point. A container often sees its own group as the mount's root, and
// its path as the host writes it; a path that leads out of the mount cannot be followed.
fs::path below_mount(std::string_view group, std::string_view mounted) {
  if (mounted != "/") {
    if (!group.starts_with(mounted)) return {};
    group.remove_prefix(mounted.size());
    if (!group.empty() && group.front() != '/') return {};
  }
  fs::path relative = fs::path(group).relative_path();
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) return {};
  return relative;
}

std::vector<fs::path> innermost_first(const fs::path& top, const fs::path& relative) {
  std::vector<fs::path> folders{top};
  fs::path folder = top;
  for (const fs::path& part : relative) {
    if (part.empty()) continue;
    folder /= part;
    folders.push_back(folder);
  }
  std::reverse(folders.begin(), folders.end());
  return folders;
}

}  // namespace

std::vector<CgroupFolders> find_cgroups(std::string_view controller, const fs::path& root) {
  std::vector<CgroupFolders> result;
  std::vector<Mount> mounts = read_mounts(root);
  std::istringstream lines(read_proc(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    bool unified = controllers.empty() && line.starts_with("0:");
    if (!unified && !names_controller(controllers, controller)) continue;
    CgroupVersion version = unified ? CgroupVersion::v2 : CgroupVersion::v1;
    Mount mount = find_mount(mounts, version, controller);
    fs::path top = root / fs::path(mount.point).relative_path();
    result.push_back({version, innermost_first(top, below_mount(group, mount.group))});
  }
  return result;
}

}  // namespace paceline
