#include "base/machine/disk.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t file_bytes = 64'000'000, piece_bytes = 8'000'000;

enum class Kind { local, network, memory };
struct FileSystem {
  uint64_t magic;
  const char* name;
  Kind kind;
};

constexpr FileSystem file_systems[] = {
    {0xEF53, "ext4", Kind::local},       {0x58465342, "xfs", Kind::local},
    {0x9123683E, "btrfs", Kind::local},  {0x2FC12FC1, "zfs", Kind::local},
    {0xF2F52010, "f2fs", Kind::local},   {0x794C7630, "overlay", Kind::local},
    {0x4D44, "fat", Kind::local},        {0x65735546, "fuse", Kind::local},
    {0x01021994, "tmpfs", Kind::memory}, {0x858458F6, "ramfs", Kind::memory},
    {0x6969, "nfs", Kind::network},      {0xFF534D42, "cifs", Kind::network},
    {0xFE534D42, "smb", Kind::network},  {0x0BD00BD0, "lustre", Kind::network},
    {0x47504653, "gpfs", Kind::network}, {0x19830326, "beegfs", Kind::network},
    {0x00C36400, "ceph", Kind::network}, {0x01021997, "9p", Kind::network},
    {0x5346414F, "afs", Kind::network},
};

// A file without a name is gone with its last descriptor, even when we are killed.
int open_nameless(const fs::path& folder) {
  int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = (folder / ".paceline-disk-XXXXXX").string();
  fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

// Synced piece by piece, so that a slow disk is found out in bounded time.
bool write_pieces(int fd, double& mb_per_s) {
  std::vector<uint64_t> piece(piece_bytes / sizeof(uint64_t));
  RandomStream random({static_cast<uint64_t>(getpid())});
  for (uint64_t& word : piece) word = random.next();
  uint64_t written = 0;
  Clock::time_point begin = Clock::now();
  std::chrono::duration<double> passed{0};
  while (written < file_bytes && passed.count() < 1.5) {
    const char* data = reinterpret_cast<const char*>(piece.data());
    for (uint64_t done = 0; done < piece_bytes;) {
      ssize_t n = write(fd, data + done, piece_bytes - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      done += static_cast<uint64_t>(n);
    }
    if (fdatasync(fd) != 0 && errno != EINVAL) return false;
    written += piece_bytes;
    passed = Clock::now() - begin;
  }
  mb_per_s = static_cast<double>(written) / 1e6 / passed.count();
  return true;
}

}  // namespace

DiskFacts examine_disk(const fs::path& folder, bool measure) {
  DiskFacts facts;
  facts.folder = folder;
  struct statfs info = {};
  if (statfs(folder.c_str(), &info) != 0) {
    facts.problem = fmt::format("{} cannot be used: {}", folder.string(), std::strerror(errno));
    return facts;
  }
  facts.free_bytes = static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_bsize);
  // The field is signed on some architectures; only its 32 bits mean something.
  uint64_t magic = static_cast<uint32_t>(info.f_type);
  facts.filesystem = fmt::format("file system {:#x}", magic);
  for (const FileSystem& known : file_systems) {
    if (known.magic != magic) continue;
    facts.filesystem = known.name;
    facts.network = known.kind == Kind::network;
    facts.memory = known.kind == Kind::memory;
  }
  if (!measure || facts.free_bytes < 2 * file_bytes) return facts;
  int fd = open_nameless(folder);
  if (fd < 0 || !write_pieces(fd, facts.write_mb_per_s))
    facts.problem = fmt::format("writing into {} failed: {}", folder.string(), std::strerror(errno));
  if (fd >= 0) close(fd);
  return facts;
}

}  // namespace paceline
