# Imports libtorch_cpu and libc10 from PACELINE_LIBTORCH. LibTorch's own CMake package insists on a
# CUDA toolkit even for a CPU program, so it is not used.
set(names torch_cpu c10)
if(PACELINE_CUDA)
  list(APPEND names torch_cuda c10_cuda)
endif()

# What was found in another folder is forgotten when PACELINE_LIBTORCH changes.
if(NOT "${LibTorch_SEARCHED}" STREQUAL "${PACELINE_LIBTORCH}")
  unset(LibTorch_VERSION_HEADER CACHE)
  foreach(name torch_cpu c10 torch_cuda c10_cuda)
    unset(LibTorch_${name} CACHE)
  endforeach()
  set(LibTorch_SEARCHED "${PACELINE_LIBTORCH}" CACHE INTERNAL "where LibTorch was looked for")
endif()

set(required "")
foreach(name ${names})
  find_library(LibTorch_${name} ${name} PATHS ${PACELINE_LIBTORCH}/lib NO_DEFAULT_PATH)
  list(APPEND required LibTorch_${name})
endforeach()
find_file(LibTorch_VERSION_HEADER NAMES torch/headeronly/version.h torch/csrc/api/include/torch/version.h
          PATHS ${PACELINE_LIBTORCH}/include NO_DEFAULT_PATH)
if(LibTorch_VERSION_HEADER)
  file(STRINGS ${LibTorch_VERSION_HEADER} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
  string(REPLACE ";" "." LibTorch_VERSION "${lines}")
endif()

set(hint "no LibTorch in ${PACELINE_LIBTORCH}: run tools/setup, or set PACELINE_LIBTORCH")
if(PACELINE_CUDA)
  set(hint "no LibTorch with CUDA in ${PACELINE_LIBTORCH}: run tools/setup --cuda, or set PACELINE_LIBTORCH")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch REQUIRED_VARS ${required} LibTorch_VERSION_HEADER VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "${hint}")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  # LibTorch brings its own copies of these, which would hide the distribution's: its headers are seen
  # through a folder of links that leaves them out.
  set(headers ${CMAKE_BINARY_DIR}/libtorch-include)
  file(REMOVE_RECURSE ${headers})
  file(MAKE_DIRECTORY ${headers})
  file(GLOB entries RELATIVE ${PACELINE_LIBTORCH}/include ${PACELINE_LIBTORCH}/include/*)
  list(REMOVE_ITEM entries fmt google pybind11)
  foreach(entry ${entries})
    file(CREATE_LINK ${PACELINE_LIBTORCH}/include/${entry} ${headers}/${entry} SYMBOLIC)
  endforeach()

  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${headers} ${headers}/torch/csrc/api/include)
  foreach(library ${required})
    target_link_libraries(LibTorch::LibTorch INTERFACE ${${library}})
  endforeach()
  # What these libraries need themselves lies beside them and is found at run time.
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined)
  if(PACELINE_CUDA)
    # Nothing of ours calls into these directly; they register their kernels when they are loaded.
    target_link_options(LibTorch::LibTorch INTERFACE -Wl,--no-as-needed)
    target_compile_definitions(LibTorch::LibTorch INTERFACE PACELINE_CUDA)
  endif()
endif()
