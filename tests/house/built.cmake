# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Each target builds every program that its tests in BUILD run: `grade` for the labels correctness and perf (./grade), `all` for the others
# (./grade test). A missing program would be "Not Run", but only on a fresh checkout. For every cost.<op>, `all` builds the counting
# program: `./grade test` compares all counts and reuses none. With nvcc (NVCC) a nightly test compiles the kernels of every resource.<op>.
# NINJA: the build tool.
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/listed_tests.cmake)
listed_tests(${BUILD})

# The commands that build a target, whether it is out of date or not.
foreach(target IN ITEMS grade all)
  execute_process(COMMAND ${NINJA} -C ${BUILD} -t commands ${target} OUTPUT_VARIABLE ${target} COMMAND_ERROR_IS_FATAL ANY)
  string(LENGTH "${${target}}" length)
  if(length EQUAL 0)
    message(FATAL_ERROR "${NINJA} -t commands ${target} prints nothing in ${BUILD}; is that a build folder of Ninja's?")
  endif()
endforeach()

set(seen 0)
foreach(name IN LISTS listed)
  set(program "${program_${name}}")
  if(program STREQUAL "" OR program MATCHES "NOT_AVAILABLE")
    message(SEND_ERROR "${name}: CTest finds no program for it; build the target all first")
    continue()
  endif()
  # cmake, sh and the source's scripts exist before the build.
  cmake_path(IS_PREFIX BUILD "${program}" NORMALIZE inside)
  if(NOT inside)
    continue()
  endif()
  cmake_path(RELATIVE_PATH program BASE_DIRECTORY ${BUILD})
  set(target all)
  if("correctness" IN_LIST labels_${name} OR "perf" IN_LIST labels_${name})
    set(target grade)
  endif()
  string(FIND "${${target}}" " -o ${program} " at)
  if(at EQUAL -1)
    message(SEND_ERROR "${name} runs ${program}, which the target ${target} does not build")
  endif()
  if(NVCC AND name MATCHES "^resource[.]" AND NOT "compiled_${name}" IN_LIST listed)
    message(SEND_ERROR "${name}: no test compiles its kernels, and what is blessed would never be compared")
  endif()
  if(name MATCHES "^cost[.]")
    string(FIND "${all}" " -o perf/kernelgrade-cost " at)
    if(at EQUAL -1)
      message(SEND_ERROR "${name} has no program that counts in the target all, so that ./grade test would count nothing")
    endif()
  endif()
  math(EXPR seen "${seen} + 1")
endforeach()
if(seen EQUAL 0)
  list(LENGTH listed count)
  message(FATAL_ERROR "${BUILD}: of ${count} tests none runs a program that is built here")
endif()
message("${seen} tests run programs that are built before them")
