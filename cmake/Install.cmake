# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install` installs the runtime, the test support, the cost gate and the rewriter of CUDA sources, for find_package(Kernelgrade) in
# other projects (docs/how-to/test_in_your_project.md). It also installs the command with the programs of `try`
# (docs/how-to/judge_a_kernel.md), and the emulator's libcuda (docs/how-to/emulate.md). The libraries of the ops and of the vendor wrappers
# are not installed.

if(KERNELGRADE_HEADERS OR KERNELGRADE_GOOGLETEST_SOURCE)
  message(STATUS "Not installable: fmt and GoogleTest were given as sources, and an installed package could not find them")
  return()
endif()

include(CMakePackageConfigHelpers)
set(headers include/kernelgrade) # matches the targets' include directories
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Kernelgrade)

set(targets runtime jit_build oracle test_support test_runner test_main)
foreach(name IN ITEMS foreign cublas rewrite symbols checkers counters counts_file cost)
  if(TARGET kernelgrade_${name})
    list(APPEND targets ${name})
  endif()
endforeach()
# A partial build, such as that of ./grade, lacks some of these targets; the installation reports it before it copies anything.
list(TRANSFORM targets PREPEND kernelgrade_ OUTPUT_VARIABLE built)
set(programs "")
if(TARGET kernelgrade::try)
  set(programs kernelgrade kernelgrade-guard kernelgrade-lab kernelgrade-try)
  foreach(name IN ITEMS kernelgrade-check kernelgrade-try-checked kernelgrade-try-counted)
    if(TARGET ${name})
      list(APPEND programs ${name})
    endif()
  endforeach()
  list(APPEND built ${programs})
endif()
set(emulators "")
foreach(name IN ITEMS kernelgrade_emulated kernelgrade_emulated_checked kernelgrade_emulated_counted)
  if(TARGET ${name})
    list(APPEND emulators ${name} ${name}_runtime ${name}_curand)
  endif()
endforeach()
if(emulators)
  list(APPEND built ${emulators} kernelgrade_nvjitlink kernelgrade_static_cudart)
endif()
add_custom_target(installable DEPENDS ${built})
list(TRANSFORM built REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
install(CODE "
  foreach(file IN ITEMS ${files})
    if(NOT EXISTS \"\${file}\")
      message(FATAL_ERROR \"\${file} is not built. Run: cmake --build ${PROJECT_BINARY_DIR} --target installable\")
    endif()
  endforeach()")

foreach(name IN LISTS targets)
  set_target_properties(kernelgrade_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS kernelgrade_${name} EXPORT KernelgradeTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  get_target_property(type kernelgrade_${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT name STREQUAL "test_main") # test_main defines main itself
    kernelgrade_add_plain_program(kernelgrade_${name})
  endif()
endforeach()
if(programs)
  if(KERNELGRADE_BUNDLE)
    kernelgrade_bundle(PROGRAMS ${programs} LIBRARIES ${emulators})
  else()
    set_target_properties(${programs} ${emulators} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  install(TARGETS ${programs} EXPORT KernelgradeTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/compile-cuda DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES docs/reference/kernelgrade.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(emulators)
  foreach(name IN LISTS emulators)
    get_target_property(folder ${name} LIBRARY_OUTPUT_DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_BINARY_DIR} ${folder}) # lib/emulate or a subfolder
    file(RELATIVE_PATH bundled /${folder} /${CMAKE_INSTALL_LIBDIR}/kernelgrade)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "\$ORIGIN;\$ORIGIN/${bundled}")
    install(TARGETS ${name} LIBRARY DESTINATION ${folder} NAMELINK_SKIP)
  endforeach()
  install(TARGETS kernelgrade_nvjitlink kernelgrade_static_cudart LIBRARY DESTINATION lib/emulate NAMELINK_SKIP)
  install(PROGRAMS kernels/cuda/binary/ptxas DESTINATION lib/emulate)
  install(FILES kernels/cuda/binary/python/sitecustomize.py DESTINATION lib/emulate/python)
endif()
install(EXPORT KernelgradeTargets NAMESPACE kernelgrade:: DESTINATION ${package})

install(DIRECTORY kernels/cuda/source/include DESTINATION ${headers}/cuda/source) # <cuda/barrier> has no extension
install(DIRECTORY kernels/runtime kernels/instructions kernels/cuda DESTINATION ${headers}
  FILES_MATCHING PATTERN "*.h" PATTERN binary EXCLUDE PATTERN rewrite EXCLUDE)
install(FILES perf/code/cost/limits.h perf/code/cost/metrics.h DESTINATION ${headers}/perf/code/cost)
# Headers that callers of the oracles need.
install(FILES kernels/ops/elementwise/op.h DESTINATION ${headers}/ops/elementwise)
install(FILES kernels/primitives/activation_function.h DESTINATION ${headers}/primitives)
install(DIRECTORY tests/oracle tests/support DESTINATION ${headers}/tests FILES_MATCHING PATTERN "*.h")

set(KERNELGRADE_CUBLAS OFF)
if(TARGET kernelgrade_cublas)
  set(KERNELGRADE_CUBLAS ON)
endif()
configure_package_config_file(cmake/KernelgradeConfig.cmake.in ${PROJECT_BINARY_DIR}/KernelgradeConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KernelgradeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KernelgradeConfig.cmake ${PROJECT_BINARY_DIR}/KernelgradeConfigVersion.cmake
  cmake/Candidate.cmake cmake/Compile.cmake cmake/Foreign.cmake cmake/FindOpenBLASLib.cmake DESTINATION ${package})
