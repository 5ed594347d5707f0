# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every entry of the list SPEC must still fit the sources below KERNELS. The kernels change by day, and planted ones are built by night.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/line.cmake)
file(READ ${SPEC} list)
string(JSON count LENGTH "${list}")
math(EXPR last "${count} - 1")
set(fitting 0)
foreach(index RANGE ${last})
  string(JSON file GET "${list}" ${index} file)
  if(NOT EXISTS ${KERNELS}/${file})
    # A copy of the project with some of the ops alone lacks the folders of the others. Any other file was moved or removed.
    cmake_path(GET file PARENT_PATH folder)
    if(file MATCHES "^ops/" AND NOT EXISTS ${KERNELS}/${folder} AND EXISTS ${KERNELS}/ops)
      continue()
    endif()
    message(FATAL_ERROR "${SPEC}: ${file}: no such file below ${KERNELS}; name the one that holds the planted line")
  endif()
  string(JSON original GET "${list}" ${index} original)
  kernelgrade_planted_line(${SPEC} ${KERNELS}/${file} "${original}" line)
  math(EXPR fitting "${fitting} + 1")
endforeach()
if(fitting EQUAL 0)
  message(FATAL_ERROR "${SPEC}: no entry was looked at")
endif()
message("${fitting} of ${count} entries fit their sources")
