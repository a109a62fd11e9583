# Imports libtorch_cpu and libc10 from PACELINE_LIBTORCH. LibTorch's own CMake package insists on a
# CUDA toolkit even for a CPU program, so it is not used.
find_path(LibTorch_INCLUDE_DIR torch/torch.h
          PATHS ${PACELINE_LIBTORCH}/include/torch/csrc/api/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU torch_cpu PATHS ${PACELINE_LIBTORCH}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10 c10 PATHS ${PACELINE_LIBTORCH}/lib NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch REQUIRED_VARS LibTorch_CPU LibTorch_C10 LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "no LibTorch in ${PACELINE_LIBTORCH}: run tools/setup, or set PACELINE_LIBTORCH")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${PACELINE_LIBTORCH}/include ${LibTorch_INCLUDE_DIR})
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_CPU} ${LibTorch_C10})
  # libtorch_cpu itself needs libcudart and libcupti, which lie beside it and are found at run time.
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined)
endif()
