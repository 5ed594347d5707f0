# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# An installation of BUILD from which one file is missing, as after ./grade: it must say what to build, and have copied nothing. FOLDER is
# this test's own.
cmake_minimum_required(VERSION 3.25)
file(READ ${BUILD}/cmake_install.cmake script)
string(REPLACE "libkernelgrade_runtime.a" "libkernelgrade_missing.a" changed "${script}")
if(changed STREQUAL script)
  message(FATAL_ERROR "${BUILD}/cmake_install.cmake installs no runtime")
endif()
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/cmake_install.cmake "${changed}")
execute_process(COMMAND ${CMAKE_COMMAND} -DCMAKE_INSTALL_PREFIX=${FOLDER}/prefix -P ${FOLDER}/cmake_install.cmake
  OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE code)
string(REGEX REPLACE "[ \n]+" " " said "${said}") # it is wrapped
if(code EQUAL 0 OR NOT said MATCHES "is not built[.] Run: cmake --build ${BUILD} --target installable")
  message(FATAL_ERROR "the installation ended with ${code}:\n${said}")
endif()
if(EXISTS ${FOLDER}/prefix)
  message(FATAL_ERROR "${FOLDER}/prefix: a part was installed")
endif()
