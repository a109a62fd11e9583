# A room is a folder under src/ and one library target: src/data/text -> paceline_data_text.
# What it may use is what it names here; tools/check-rooms holds the order of the house.

set(PACELINE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports these for correct std::string code of its own headers (GCC bug 105651).
  list(APPEND PACELINE_WARNINGS -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()

# The order of floating-point operations is part of the contract (same bits), so the compiler may
# not fuse a multiplication and an addition on its own.
set(PACELINE_FLAGS -ffp-contract=off -fno-fast-math)

add_library(paceline_build INTERFACE)
target_compile_options(paceline_build INTERFACE ${PACELINE_WARNINGS} ${PACELINE_FLAGS})
target_include_directories(paceline_build INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_include_directories(paceline_build SYSTEM INTERFACE ${NLOHMANN_JSON_INCLUDE})
target_compile_definitions(paceline_build INTERFACE PACELINE_VERSION="${PROJECT_VERSION}")
target_link_libraries(paceline_build INTERFACE fmt::fmt Threads::Threads)
if(PACELINE_SANITIZE)
  # Instrumented code draws false warnings from GCC, and the release build has checked it already.
  target_compile_options(paceline_build INTERFACE -fsanitize=${PACELINE_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer -Wno-error)
  target_compile_definitions(paceline_build INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(paceline_build INTERFACE -fsanitize=${PACELINE_SANITIZE})
endif()

# Programs are compiled with the libraries' flag (-fPIC for -fPIE), or GCC refuses the shared header.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

# One precompiled header serves every torch-free unit.
add_library(paceline_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(paceline_pch PRIVATE paceline_build)
target_precompile_headers(paceline_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# And one serves every unit that sees LibTorch, whose headers cost 15 s otherwise.
if(PACELINE_ENGINE)
  add_library(paceline_torch_pch OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
  target_link_libraries(paceline_torch_pch PRIVATE paceline_build LibTorch::LibTorch)
  target_precompile_headers(paceline_torch_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_torch.h)
endif()

# paceline_room(data/text USES base LINKS ZLIB::ZLIB): USES are rooms, LINKS are outside libraries.
function(paceline_room path)
  cmake_parse_arguments(ARG "TORCH" "" "USES;LINKS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.cc)
  if(NOT sources)
    add_library(paceline_${name} INTERFACE)
    return()
  endif()
  add_library(paceline_${name} STATIC ${sources})
  target_link_libraries(paceline_${name} PUBLIC paceline_build)
  foreach(room ${ARG_USES})
    string(REPLACE "/" "_" used ${room})
    target_link_libraries(paceline_${name} PUBLIC paceline_${used})
  endforeach()
  target_link_libraries(paceline_${name} PUBLIC ${ARG_LINKS})
  set_property(GLOBAL PROPERTY links_of_paceline_${name} ${ARG_LINKS})
  if(ARG_TORCH)
    target_link_libraries(paceline_${name} PUBLIC LibTorch::LibTorch)
    target_precompile_headers(paceline_${name} REUSE_FROM paceline_torch_pch)
  else()
    target_precompile_headers(paceline_${name} REUSE_FROM paceline_pch)
  endif()
endfunction()

# A shared library of the objects of rooms, so that a room is there once in a process, whoever opens what.
function(paceline_library target)
  add_library(${target} SHARED)
  foreach(room ${ARGN})
    string(REPLACE "/" "_" name ${room})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:paceline_${name}>)
    get_property(links GLOBAL PROPERTY links_of_paceline_${name})
    target_link_libraries(${target} PRIVATE ${links})
  endforeach()
  target_link_libraries(${target} PUBLIC paceline_build)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# The symbols that others find in a shared library; the rest of it is its own.
function(paceline_export target)
  list(JOIN ARGN "; " symbols)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${target}.map CONTENT "{ global: @symbols@; local: *; };\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${CMAKE_BINARY_DIR}/${target}.map)
endfunction()
