// A folder for the memory that workers of one machine share, so that nothing of it stays when they and
// mpirun are killed.
#pragma once
#include "base/files.h"

namespace paceline {

class SharedMemoryFolder {
 public:
  // In memory where the system offers that, else among the temporary files. Throws WorkError.
  SharedMemoryFolder();
  ~SharedMemoryFolder();
  SharedMemoryFolder(const SharedMemoryFolder&) = delete;
  SharedMemoryFolder& operator=(const SharedMemoryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace paceline
