# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs BUILD into FOLDER, whose `kernelgrade try` then judges SOURCE (a softmax that may cheat) from elsewhere, and whose package gives
# a project the candidate's tests.
cmake_minimum_required(VERSION 3.25)

# expect(<what> <code> <pattern of the output> <command>...)
function(expect what code pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE got)
  message("=== ${what}\n${output}")
  if(NOT got EQUAL code OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: exit code ${got}, not ${code}, or the output does not match ${pattern}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(installed "${FOLDER}/installed here") # any folder will do
set(project ${FOLDER}/project)
expect(install 0 "" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${installed})
if(NOT EXISTS "${installed}/share/man/man1/kernelgrade.1")
  message(FATAL_ERROR "the manual page is not installed")
endif()

file(MAKE_DIRECTORY ${project})
file(COPY_FILE ${SOURCE} ${project}/my_softmax.cu)
file(WRITE ${project}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(Mine LANGUAGES CXX)
find_package(Kernelgrade REQUIRED)
enable_testing()
kernelgrade_add_candidate(softmax my_softmax.cu)
")
set(try ${CMAKE_COMMAND} -E chdir ${project} ${installed}/bin/kernelgrade try softmax)
expect("the signature" 0 "extern .C. void softmax_f32" ${try} --signature)
expect("a right kernel" 0 "sectors +[0-9]+.*passed: correct and safe" ${try} my_softmax.cu)
expect("one with a race" 1 "\\[race\\].*FAILED" ${CMAKE_COMMAND} -E env CHEAT=race ${try} my_softmax.cu)

expect(configure 0 "" ${CMAKE_COMMAND} -S ${project} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_PREFIX_PATH=${installed} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=${FLAGS})
expect(build 0 "" ${CMAKE_COMMAND} --build ${FOLDER}/build)
set(test ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure --no-tests=error)
expect("tests of a right kernel" 0 "my_softmax[.]f32 \\.+ +Passed.*my_softmax[.]checked[.]f32 \\.+ +Passed" ${test})
expect("tests of one with a race" 8 "my_softmax[.]checked[.]f32 \\.+[*]+Failed.*\\[race\\]" ${CMAKE_COMMAND} -E env CHEAT=race ${test})
