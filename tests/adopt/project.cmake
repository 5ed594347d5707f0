# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# A project (PROJECT) that takes Kernelgrade from SOURCE, or from BUILD, installed into FOLDER, has its own test under the checkers: it passes,
# and fails with a race in its kernel.
cmake_minimum_required(VERSION 3.25)

function(expect what code pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE got)
  message("=== ${what}\n${output}")
  if(NOT got EQUAL code OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: exit code ${got}, not ${code}, or the output does not match ${pattern}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER}/installed ${FOLDER}/build)
if(PROJECT MATCHES "find_package$")
  expect(install 0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/installed)
endif()
foreach(race IN ITEMS OFF ON)
  expect("configure, STRANGER_RACE=${race}" 0 "" ${CMAKE_COMMAND} -S ${PROJECT} -B ${FOLDER}/build -G ${GENERATOR}
    -DSTRANGER_RACE=${race} -DKERNELGRADE_SOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${FOLDER}/installed
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=${FLAGS})
  expect(build 0 "" ${CMAKE_COMMAND} --build ${FOLDER}/build)
  set(code 0)
  set(pattern "sums_test[.]checked \\.+ +Passed")
  if(race)
    set(code 8)
    set(pattern "\\[race\\] kernel sums, .*sums[.]cu:17")
  endif()
  expect(test ${code} "${pattern}" ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure --no-tests=error)
endforeach()
