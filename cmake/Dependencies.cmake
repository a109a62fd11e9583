# Debian's own packages, found by the names their -dev packages install.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
find_path(NLOHMANN_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
# Several workers need it; without it everything else is built.
pkg_check_modules(OMPI IMPORTED_TARGET ompi-c)

# yaml-cpp's target is called yaml-cpp in older packages and yaml-cpp::yaml-cpp in newer ones.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

if(PACELINE_ENGINE)
  find_package(LibTorch 2.7 REQUIRED)
endif()
find_package(Nccl QUIET)
