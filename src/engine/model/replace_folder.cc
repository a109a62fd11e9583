#include "engine/model/replace_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace paceline {

void replace_folder(const fs::path& staging, const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) &&
      renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    sync_directory(folder.parent_path());
    fs::remove_all(staging, error);
    return;
  }
  // There is none yet, or the file system cannot exchange names: then the old one stays beside it until
  // the new one is there.
  const fs::path old = folder.string() + ".old";
  fs::remove_all(old, error);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(staging, folder, error);
  if (error) {
    std::error_code ignored;
    fs::rename(old, folder, ignored);
    work_error("{}: cannot be put in place: {}", folder.string(), error.message());
  }
  sync_directory(folder.parent_path());
  fs::remove_all(old, error);
}

}  // namespace paceline
