#include <dlfcn.h>

#include "base/error.h"
#include "base/files.h"
#include "cluster/exchange/exchange.h"

namespace paceline {
namespace {

struct Library {
  std::string_view kind;
  const char* file;
  const char* absent;    // what to do when the program was built without it
  const char* unopened;  // what to do when something that it needs is missing
};

constexpr Library libraries[] = {
    {"mpi", "libpaceline_mpi.so",
     "this program was built without MPI; install openmpi-bin and libopenmpi-dev and build again",
     "install openmpi-bin, the version that this program was built with"},
    {"nccl", "libpaceline_nccl.so",
     "this program was built without NCCL; run tools/setup --cuda and build again",
     "run tools/setup --cuda and build again"},
};

const Library& library_of(const std::string& kind) {
  for (const Library& library : libraries)
    if (library.kind == kind) return library;
  input_error("exchange '{}' is not one of mpi, nccl", kind);
}

}  // namespace

std::unique_ptr<Exchange> open_exchange(const std::string& kind) {
  const Library& library = library_of(kind);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path path = program.parent_path().parent_path() / "lib" / library.file;
  if (!fs::exists(path, error))
    input_error("{}: there is no such library: {}", path.string(), library.absent);
  // Open MPI's plug-ins look up its symbols among those that everybody sees.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const std::string reason = dlerror();
    input_error("{} cannot be opened: {}; {}", path.string(), reason, library.unopened);
  }
  auto make = reinterpret_cast<decltype(&paceline_make_exchange)>(dlsym(handle, "paceline_make_exchange"));
  if (make == nullptr) input_error("{}: not a library of this program; build again", path.string());
  std::string problem;
  std::unique_ptr<Exchange> exchange(make(&problem));
  if (exchange == nullptr) throw InputError(problem);
  return exchange;
}

}  // namespace paceline
