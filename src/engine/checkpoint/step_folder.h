// The folders step-N on disk: how they appear, are replaced and go, each in one rename.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace paceline {

std::string step_name(uint64_t step);                    // "step-40"
std::optional<uint64_t> step_of(std::string_view name);  // nothing when it is no such name
// The steps of all folders step-N, ascending, complete or not; none when the folder is missing.
std::vector<uint64_t> steps_in(const fs::path& folder);

// Hidden beside step-N: where it is written, and where it goes to be deleted.
fs::path staging_of(const fs::path& folder, uint64_t step);
fs::path removed_of(const fs::path& folder, uint64_t step);
// An empty staging folder.
fs::path make_staging(const fs::path& folder, uint64_t step);
// Deletes everything with such a hidden name. Throws WorkError.
void remove_leftovers(const fs::path& folder);

// Throws WorkError that names the file and the reason.
void write_synced(const fs::path& path, std::string_view bytes);

// Makes the staged folder step-N, synced; one that is there already is replaced without a moment in
// which neither is, and left over. Where the file system cannot exchange two names (exchange: false in
// tests), a checkpoint that is there and whole is kept instead, since the same step has the same bits.
void put_in_place(const fs::path& folder, uint64_t step, bool exchange = true);

// Out of sight in one rename each and left over, so that no half of one ever looks complete. Throws
// WorkError.
void hide_steps(const fs::path& folder, const std::vector<uint64_t>& steps);

// Held as long as it lives, released by the kernel when the process is killed. Throws InputError when
// another process has it.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

}  // namespace paceline
