#include "engine/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

// The lock goes with the process, however that ends. shown: the folder as the user knows it.
int lock_folder(const fs::path& folder, const fs::path& shown) {
  const fs::path file = folder / ".lock";
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) input_error("--out {}: cannot be written: {}", shown.string(), std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  const int reason = errno;
  close(lock);
  if (reason == EWOULDBLOCK)
    input_error("--out {}: the run is being trained by another process; wait for it or stop it",
                shown.string());
  input_error("--out {}: cannot be locked: {}", shown.string(), std::strerror(reason));
}

}  // namespace

RunFolder RunFolder::make(const fs::path& out, const std::string& config) {
  StagedFolder staged(out, "--out");
  write_file_atomically(staged.path() / "config.yaml", config);
  RunFolder folder(out, lock_folder(staged.path(), out));
  staged.commit();
  return folder;
}

RunFolder RunFolder::open(const fs::path& out) { return {out, lock_folder(out, out)}; }

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace paceline
