# What cmake --install writes: bin/paceline, lib/libpaceline_engine.so, and LibTorch's libraries in a
# folder of their own, lib/paceline, where no other program finds them by accident.
include(GNUInstallDirs)
set(docs share/doc/paceline)

if(TARGET paceline)
  set_target_properties(paceline PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS paceline RUNTIME DESTINATION bin)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${docs})
foreach(page README.md CHANGELOG.md)
  install(FILES ${CMAKE_SOURCE_DIR}/${page} DESTINATION ${docs} OPTIONAL)
endforeach()

if(TARGET paceline_engine)
  install(TARGETS paceline_engine LIBRARY DESTINATION lib)
  if(PACELINE_LIBTORCH STREQUAL "${CMAKE_SOURCE_DIR}/.deps/libtorch")
    set_target_properties(paceline_engine PROPERTIES INSTALL_RPATH "$ORIGIN/paceline")
    foreach(library libtorch_cpu.so libc10.so libgomp.so.1 libcudart.so.13 libcupti.so.13)
      install(FILES ${PACELINE_LIBTORCH}/lib/${library} DESTINATION lib/paceline)
    endforeach()
    install(DIRECTORY ${PACELINE_LIBTORCH}/licenses/ DESTINATION ${docs}/licenses)
  else()
    # A LibTorch of the user's own stays where it is.
    set_target_properties(paceline_engine PROPERTIES INSTALL_RPATH "${PACELINE_LIBTORCH}/lib")
  endif()
endif()
