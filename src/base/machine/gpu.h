// NVIDIA GPUs as their driver's management library (NVML) describes them; nothing of CUDA is needed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct Gpu {
  std::string name;
  uint64_t memory_bytes = 0;
  int major = 0, minor = 0;  // compute capability
};

struct GpuFacts {
  bool driver = false;         // the library is there and answers
  std::string problem;         // why not: "no NVIDIA driver"
  std::string driver_version;  // "580.65.06"
  int driver_cuda = 0;         // the newest CUDA the driver runs, 13000: 13.0
  std::vector<Gpu> gpus;
};

// The functions of NVML that are used here, in their C form.
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*memory)(void*, NvmlMemory*) = nullptr;
  int (*capability)(void*, int*, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

GpuFacts examine_gpus(const Nvml& nvml);
// Opens the driver's library.
GpuFacts examine_gpus(const char* library = "libnvidia-ml.so.1");

// The version of the CUDA runtime that is loaded in this process (LibTorch brings its own): "13.2", or ""
// when there is none.
std::string loaded_cuda_version();

// Whether a LibTorch built for this CUDA ("13.2"; "": for none) has code for a GPU of this compute
// capability. CUDA 13 drives no Pascal or Volta, CUDA before 12.8 no Blackwell.
bool libtorch_can_drive(int major, int minor, std::string_view cuda_version);
// Whether a driver (13000: up to CUDA 13.0) runs programs of this CUDA's major version.
bool driver_can_run(int driver_cuda, std::string_view cuda_version);

}  // namespace paceline
