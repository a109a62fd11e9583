#include "cluster/launch/shared_memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace paceline {

SharedMemoryFolder::SharedMemoryFolder() {
  for (const fs::path& place : {fs::path("/dev/shm"), fs::temp_directory_path()}) {
    std::string name = (place / "paceline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) continue;
    path_ = name;
    return;
  }
  work_error("no folder for the workers' shared memory: {}", std::strerror(errno));
}

SharedMemoryFolder::~SharedMemoryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace paceline
