#include "cli/engine_library.h"

#include <dlfcn.h>

#include "base/error.h"

namespace paceline::cli {

Engine* try_engine(std::string& reason) {
  static Engine* opened = nullptr;
  if (opened != nullptr) return opened;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = program.parent_path().parent_path() / "lib" / "libpaceline_engine.so";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = dlerror();
    return nullptr;
  }
  auto open = reinterpret_cast<Engine* (*)()>(dlsym(handle, "paceline_open_engine"));
  if (open == nullptr) {
    reason = fmt::format("{}: not the engine of this program", library.string());
    return nullptr;
  }
  return opened = open();
}

Engine& engine() {
  std::string reason;
  if (Engine* opened = try_engine(reason)) return *opened;
  work_error("the engine cannot be opened: {}; paceline doctor says more", reason);
}

}  // namespace paceline::cli
