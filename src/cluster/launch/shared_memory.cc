#include "cluster/launch/shared_memory.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace paceline {
namespace {

// Whoever was killed could not remove its folder. One that is in use is not empty for longer than a moment.
void remove_empty_of_others(const fs::path& place) {
  constexpr std::chrono::hours old{1};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with("paceline-") || !entry.is_directory(ignored)) continue;
    const auto changed = entry.last_write_time(ignored);
    if (!ignored && fs::file_time_type::clock::now() - changed > old) rmdir(entry.path().c_str());
  }
}

}  // namespace

SharedMemoryFolder::SharedMemoryFolder() {
  for (const fs::path& place : {fs::path("/dev/shm"), fs::temp_directory_path()}) {
    remove_empty_of_others(place);
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
