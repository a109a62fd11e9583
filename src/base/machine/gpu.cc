#include "base/machine/gpu.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/machine/proc.h"

namespace paceline {
namespace {

template <typename Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load_all(void* library, Nvml& nvml) {
  load(library, "nvmlSystemGetCudaDriverVersion_v2", nvml.cuda_version);
  load(library, "nvmlErrorString", nvml.error_text);
  return load(library, "nvmlInit_v2", nvml.init) && load(library, "nvmlShutdown", nvml.shutdown) &&
         load(library, "nvmlSystemGetDriverVersion", nvml.driver_version) &&
         load(library, "nvmlDeviceGetCount_v2", nvml.count) &&
         load(library, "nvmlDeviceGetHandleByIndex_v2", nvml.by_index) &&
         load(library, "nvmlDeviceGetName", nvml.name) &&
         load(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
         load(library, "nvmlDeviceGetCudaComputeCapability", nvml.capability);
}

// "12.8" -> 1208; nothing for what is no version.
std::optional<int> version_number(std::string_view text) {
  size_t dot = std::min(text.find('.'), text.size());
  std::optional<uint64_t> major = parse_number(text.substr(0, dot));
  std::string_view rest = text.substr(std::min(dot + 1, text.size()));
  std::optional<uint64_t> minor = rest.empty() ? uint64_t{0} : parse_number(rest.substr(0, rest.find('.')));
  if (!major || !minor || *major > 1000 || *minor > 99) return std::nullopt;
  return static_cast<int>(*major * 100 + *minor);
}

Gpu describe(const Nvml& nvml, unsigned index) {
  Gpu gpu;
  void* device = nullptr;
  char name[96] = {};
  NvmlMemory memory = {};
  if (nvml.by_index(index, &device) != 0) {
    gpu.name = fmt::format("GPU {} (the driver gives no access to it)", index);
    return gpu;
  }
  gpu.name = nvml.name(device, name, sizeof name - 1) == 0 ? name : "a GPU without a name";
  if (nvml.memory(device, &memory) == 0) gpu.memory_bytes = memory.total;
  if (nvml.capability(device, &gpu.major, &gpu.minor) != 0) gpu.major = gpu.minor = 0;
  return gpu;
}

}  // namespace

GpuFacts examine_gpus(const Nvml& nvml) {
  GpuFacts facts;
  if (int failure = nvml.init(); failure != 0) {
    facts.problem = fmt::format("the NVIDIA driver's library is there but does not start: {}",
                                nvml.error_text ? nvml.error_text(failure) : "no reason given");
    return facts;
  }
  facts.driver = true;
  char version[96] = {};
  if (nvml.driver_version(version, sizeof version - 1) == 0) facts.driver_version = version;
  if (nvml.cuda_version != nullptr && nvml.cuda_version(&facts.driver_cuda) != 0) facts.driver_cuda = 0;
  unsigned count = 0;
  if (nvml.count(&count) != 0) count = 0;
  for (unsigned index = 0; index < std::min(count, 1024u); ++index)
    facts.gpus.push_back(describe(nvml, index));
  nvml.shutdown();
  return facts;
}

GpuFacts examine_gpus(const char* library) {
  GpuFacts facts;
  std::unique_ptr<void, int (*)(void*)> handle(dlopen(library, RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!handle) {
    facts.problem = "no NVIDIA driver";
    return facts;
  }
  Nvml nvml;
  if (!load_all(handle.get(), nvml)) {
    facts.problem = "the NVIDIA driver is too old to be asked";
    return facts;
  }
  return examine_gpus(nvml);
}

std::string loaded_cuda_version() {
  for (int major = 30; major >= 10; --major) {
    std::string name =
        fmt::format("libcudart.so.{}", major == 11 ? std::string("11.0") : std::to_string(major));
    std::unique_ptr<void, int (*)(void*)> handle(dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD), dlclose);
    int (*get_version)(int*) = nullptr;
    int version = 0;
    if (handle && load(handle.get(), "cudaRuntimeGetVersion", get_version) && get_version(&version) == 0)
      return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }
  return {};
}

bool libtorch_can_drive(int major, int minor, std::string_view cuda_version) {
  std::optional<int> cuda = version_number(cuda_version);
  if (!cuda || major <= 0) return false;
  int capability = major * 10 + minor;
  if (*cuda >= 1300) return capability >= 75;
  if (*cuda >= 1208) return capability >= 70;
  return capability >= 50 && capability < 100;
}

bool driver_can_run(int driver_cuda, std::string_view cuda_version) {
  std::optional<int> cuda = version_number(cuda_version);
  return cuda && driver_cuda / 1000 >= *cuda / 100;
}

}  // namespace paceline
