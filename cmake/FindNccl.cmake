# Imports NCCL and the CUDA runtime from PACELINE_NCCL (include/, lib/), which tools/setup fills with the
# pinned wheels of tools/nccl.lock.
if(NOT "${Nccl_SEARCHED}" STREQUAL "${PACELINE_NCCL}")
  unset(Nccl_INCLUDE CACHE)
  unset(Nccl_nccl CACHE)
  unset(Nccl_cudart CACHE)
  set(Nccl_SEARCHED "${PACELINE_NCCL}" CACHE INTERNAL "where NCCL was looked for")
endif()

find_path(Nccl_INCLUDE nccl.h PATHS ${PACELINE_NCCL}/include NO_DEFAULT_PATH)
# The wheels carry the libraries under the names that programs load, without the plain links for linkers.
find_library(Nccl_nccl NAMES nccl libnccl.so.2 PATHS ${PACELINE_NCCL}/lib NO_DEFAULT_PATH)
find_library(Nccl_cudart NAMES cudart libcudart.so.13 libcudart.so.12 PATHS ${PACELINE_NCCL}/lib NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nccl REQUIRED_VARS Nccl_INCLUDE Nccl_nccl Nccl_cudart)

if(Nccl_FOUND AND NOT TARGET Nccl::Nccl)
  add_library(Nccl::Nccl INTERFACE IMPORTED)
  target_include_directories(Nccl::Nccl SYSTEM INTERFACE ${Nccl_INCLUDE})
  target_link_libraries(Nccl::Nccl INTERFACE ${Nccl_nccl} ${Nccl_cudart})
endif()
