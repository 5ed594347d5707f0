# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every program that a test of BUILD runs is built by the target that comes before the tests: `grade` where the label is correctness or perf
# (./grade), `all` for the others (./grade test). What a target forgets would be "Not Run" on a fresh checkout, and only there.
# NINJA: the build tool.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${CTEST} --test-dir ${BUILD} --show-only=json-v1 OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH "${json}" tests)
if(count EQUAL 0)
  message(FATAL_ERROR "${BUILD}: no tests are registered")
endif()

# The commands that make a target, whether they are due or not.
foreach(target IN ITEMS grade all)
  execute_process(COMMAND ${NINJA} -C ${BUILD} -t commands ${target} OUTPUT_VARIABLE ${target} COMMAND_ERROR_IS_FATAL ANY)
  string(LENGTH "${${target}}" length)
  if(length EQUAL 0)
    message(FATAL_ERROR "${NINJA} -t commands ${target} prints nothing in ${BUILD}; is that a build folder of Ninja's?")
  endif()
endforeach()

set(seen 0)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON test GET "${json}" tests ${i})
  string(JSON name GET "${test}" name)
  string(JSON program ERROR_VARIABLE missing GET "${test}" command 0)
  if(missing)
    message(SEND_ERROR "${name}: CTest finds no program for it; build the target all first")
    continue()
  endif()
  # cmake, sh and the scripts of the source are there before the build.
  cmake_path(IS_PREFIX BUILD "${program}" NORMALIZE inside)
  if(NOT inside)
    continue()
  endif()
  cmake_path(RELATIVE_PATH program BASE_DIRECTORY ${BUILD})
  set(target all)
  if("${test}" MATCHES "\"(correctness|perf)\"")
    set(target grade)
  endif()
  string(FIND "${${target}}" " -o ${program} " at)
  if(at EQUAL -1)
    message(SEND_ERROR "${name} runs ${program}, which the target ${target} does not build")
  endif()
  math(EXPR seen "${seen} + 1")
endforeach()
if(seen EQUAL 0)
  message(FATAL_ERROR "${BUILD}: of ${count} tests none runs a program that is built here")
endif()
message("${seen} tests run programs that are built before them")
