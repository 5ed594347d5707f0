# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every entry of the list SPEC must still match the sources below KERNELS: kernels change before merges, but planted bugs are built nightly.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/line.cmake)
file(READ ${SPEC} list)
string(JSON count LENGTH "${list}")
math(EXPR last "${count} - 1")
set(fitting 0)
foreach(index RANGE ${last})
  string(JSON file GET "${list}" ${index} file)
  if(NOT EXISTS ${KERNELS}/${file})
    # A copy of the project with only some ops lacks the folders of the others. Any other missing file was moved or removed.
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
