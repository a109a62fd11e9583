# What cmake --install writes: bin/paceline, our libraries in lib/, and LibTorch's in a folder of their
# own, lib/paceline, where no other program finds them by accident.
set(docs share/doc/paceline)

set_target_properties(paceline PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
set_target_properties(paceline_core PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS paceline paceline_core RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${docs})
foreach(page README.md CHANGELOG.md)
  install(FILES ${CMAKE_SOURCE_DIR}/${page} DESTINATION ${docs} OPTIONAL)
endforeach()

# Open MPI itself, like any package of the distribution, is not part of it.
if(TARGET paceline_mpi)
  set_target_properties(paceline_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS paceline_mpi LIBRARY DESTINATION lib)
endif()

if(PACELINE_ENGINE)
  install(TARGETS paceline_engine LIBRARY DESTINATION lib)
  if(PACELINE_LIBTORCH STREQUAL "${CMAKE_SOURCE_DIR}/.deps/libtorch")
    set_target_properties(paceline_engine PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/paceline")
    foreach(library libtorch_cpu.so libc10.so libgomp.so.1 libcudart.so.13 libcupti.so.13)
      install(FILES ${PACELINE_LIBTORCH}/lib/${library} DESTINATION lib/paceline)
    endforeach()
    install(DIRECTORY ${PACELINE_LIBTORCH}/licenses/ DESTINATION ${docs}/licenses)
  else()
    # A LibTorch of the user's own stays where it is.
    set_target_properties(paceline_engine PROPERTIES INSTALL_RPATH "$ORIGIN;${PACELINE_LIBTORCH}/lib")
  endif()
endif()
