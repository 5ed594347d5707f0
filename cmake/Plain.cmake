# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_plain_program(<library> [<label>...]): CTest test plain.<library> links the whole library into an ordinary program, which
# exports no symbols (no -rdynamic), and runs it. Host backend only: nvcc has only one way to link programs.
function(kernelgrade_add_plain_program library)
  if(NOT KERNELGRADE_BACKEND STREQUAL "host")
    return()
  endif()
  if(NOT TARGET plain_main)
    add_library(plain_main OBJECT)
    kernelgrade_device_sources(plain_main ${PROJECT_SOURCE_DIR}/tests/house/plain/main.cu)
    target_link_libraries(plain_main PRIVATE kernelgrade::runtime)
    target_compile_options(plain_main PRIVATE ${KERNELGRADE_BRIEF_COMPILATION})
    kernelgrade_warnings(plain_main)
  endif()
  add_executable(plain_${library} $<TARGET_OBJECTS:plain_main>)
  set_target_properties(plain_${library} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(plain_${library} PRIVATE
    "-Wl,--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive" ${library} kernelgrade::runtime)
  add_test(NAME plain.${library} COMMAND plain_${library})
  set_tests_properties(plain.${library} PROPERTIES LABELS "unit;${ARGN}" TIMEOUT 60)
endfunction()
