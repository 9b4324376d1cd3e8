# What `cmake --install` puts below a prefix, by component (packaging/debian/rules makes a package of each):
#
#   program      bin/ctascope, the timeline's recorders, the manual page, completions
#   cpu          the compiler driver's plug-in, the CPU device, the stand-in toolkit
#   gpu          what records programs on NVIDIA GPUs, as far as this build has it
#   library      libctascope
#   development  its header, pkg-config file and CMake package
#
# The build tree has the same shape, so the program finds its parts from its own path in both, and
# an installed tree may be moved. Everything private stays in lib/ctascope and share/ctascope.
include(GNUInstallDirs)
set(private lib/ctascope)

# Folders that are there before the first file is installed stay when ctascope is uninstalled; those that an
# earlier installation of ctascope made go. Files of an earlier one that this one does not have go at once.
install(CODE [[
  if(NOT CMAKE_INSTALL_COMPONENT)
    set(cts_root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
    set(cts_manifest lib/ctascope/manifest.txt)
    file(GLOB cts_there LIST_DIRECTORIES true RELATIVE "${cts_root}"
      "${cts_root}/*" "${cts_root}/*/*" "${cts_root}/*/*/*")
    if(EXISTS "${cts_root}/${cts_manifest}")
      file(STRINGS "${cts_root}/${cts_manifest}" cts_made REGEX "/$")
      list(TRANSFORM cts_made REPLACE "/$" "")
      list(REMOVE_ITEM cts_there ${cts_made})
      file(STRINGS "${cts_root}/${cts_manifest}" cts_earlier REGEX "[^/]$")
    endif()
  endif()
]])

# install_private(COMPONENT FILE...): files of the build's lib/ctascope, as they are.
function(install_private component)
  list(TRANSFORM ARGN PREPEND ${CTS_LIB_DIR}/)
  install(FILES ${ARGN} DESTINATION ${private} COMPONENT ${component})
endfunction()

# install_targets(COMPONENT TARGET...): those of the targets that this build has.
function(install_targets component)
  foreach(target ${ARGN})
    if(TARGET ${target})
      install(TARGETS ${target}
        LIBRARY DESTINATION ${private} COMPONENT ${component}
        ARCHIVE DESTINATION ${private} COMPONENT ${component}
        RUNTIME DESTINATION ${private} COMPONENT ${component})
    endif()
  endforeach()
endfunction()

# ---- program ----
install(TARGETS ctascope RUNTIME DESTINATION bin COMPONENT program)
install_targets(program ctascope_timeline ctascope_functions ctascope_nvtx ctascope_nccl
  ctascope_threads ctascope_mpi_openmpi ctascope_mpi_mpich)
foreach(mpi openmpi mpich)
  if(TARGET cts_processes_${mpi})
    install(PROGRAMS ${CTS_LIB_DIR}/libctascope_processes_${mpi}.so DESTINATION ${private}
      COMPONENT program)
  endif()
endforeach()
install(FILES ${CTS_SHARE_DIR}/api-names.txt DESTINATION share/ctascope COMPONENT program)
# Both come from the verbs' own tables.
add_custom_command(OUTPUT ctascope.1 ctascope.bash
  COMMAND ctascope help --man > ctascope.1
  COMMAND ctascope help --completion bash > ctascope.bash
  DEPENDS ctascope VERBATIM)
add_custom_target(cts_manual ALL DEPENDS ctascope.1 ctascope.bash)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ctascope.1 DESTINATION share/man/man1 COMPONENT program)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ctascope.bash
  DESTINATION share/bash-completion/completions RENAME ctascope COMPONENT program)

# ---- cpu ----
install_targets(cpu ctascope-plugin ctascope_cpu ctascope_cublas ctascope_curand
  ctascope_cufft ctascope_cusparse)
install_private(cpu cpu-device.bc)
install(DIRECTORY ${CTS_SHARE_DIR}/cpu ${CTS_SHARE_DIR}/nvcc DESTINATION share/ctascope
  USE_SOURCE_PERMISSIONS COMPONENT cpu)

# ---- gpu ----
install_targets(gpu ctascope_cupti ctascope_memory ctascope_gpu_self_test ctascope_hint)
install_private(gpu cuda-producer.bc cuda-library.bc)
foreach(version 12 13)
  install(TARGETS cts_cudart_${version} LIBRARY DESTINATION ${private}/cudart-${version} COMPONENT gpu)
endforeach()
foreach(patches ctascope_patches ctascope_patches_values)
  if(TARGET ${patches})
    install_private(gpu ${patches}.fatbin)
  endif()
endforeach()
if(TARGET ctascope_patches_tensors)
  install_private(gpu ctascope_patches_tensors.cubin)
endif()
install(DIRECTORY ${CTS_SHARE_DIR}/cuda DESTINATION share/ctascope COMPONENT gpu)

# ---- library, development ----
set_target_properties(libctascope PROPERTIES EXPORT_NAME ctascope)
install(TARGETS libctascope EXPORT ctascope
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES include/ctascope/ctascope.h include/ctascope/record.h
  DESTINATION include/ctascope COMPONENT development)
install(EXPORT ctascope NAMESPACE ctascope:: FILE ctascope-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ctascope COMPONENT development)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ctascope-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ctascope-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ctascope COMPONENT development)
# Paths relative to the file's own place, so that the tree may be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/ctascope.pc @ONLY CONTENT "\
prefix=\${pcfiledir}/@up@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/include

Name: ctascope
Description: reads what ctascope recorded of a CUDA program
Version: @PROJECT_VERSION@
Libs: -L\${libdir} -lctascope
Cflags: -I\${includedir}
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ctascope.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- documentation, and what to remove again ----
install(FILES README.md LICENSE DESTINATION share/doc/ctascope COMPONENT program)
install(DIRECTORY docs/ DESTINATION share/doc/ctascope/docs COMPONENT program FILES_MATCHING
  PATTERN *.md PATTERN results EXCLUDE PATTERN pictures EXCLUDE)
install(PROGRAMS packaging/uninstall DESTINATION lib/ctascope COMPONENT program)
# The files of a whole installation and the folders that it made (these end in /), relative to the prefix;
# packaging/uninstall reads it.
install(CODE [[
  cmake_policy(VERSION 3.25)
  if(NOT CMAKE_INSTALL_COMPONENT)
    set(list "${cts_manifest}\n")
    set(folders lib/ctascope)
    list(REMOVE_ITEM cts_earlier "${cts_manifest}")
    foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
      file(RELATIVE_PATH file "${CMAKE_INSTALL_PREFIX}" "${file}")
      string(APPEND list "${file}\n")
      list(REMOVE_ITEM cts_earlier "${file}")
      get_filename_component(folder "${file}" DIRECTORY)
      list(APPEND folders "${folder}")
    endforeach()
    list(REMOVE_DUPLICATES folders)
    set(made "")
    foreach(folder IN LISTS folders)
      while(folder AND NOT folder IN_LIST cts_there AND NOT folder IN_LIST made)
        list(APPEND made "${folder}")
        string(APPEND list "${folder}/\n")
        get_filename_component(folder "${folder}" DIRECTORY)
      endwhile()
    endforeach()
    file(WRITE "${cts_root}/${cts_manifest}" "${list}")
    foreach(file IN LISTS cts_earlier)
      file(REMOVE "${cts_root}/${file}")
      get_filename_component(folder "${file}" DIRECTORY)
      file(GLOB others "${cts_root}/${folder}/*")
      if(NOT others AND folder IN_LIST cts_made)
        file(REMOVE_RECURSE "${cts_root}/${folder}")
      endif()
    endforeach()
  endif()
]])
