# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every entry of the list SPEC must still fit the sources below KERNELS. The kernels change by day, and planted ones are built by night.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/line.cmake)
file(READ ${SPEC} list)
string(JSON count LENGTH "${list}")
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON file GET "${list}" ${index} file)
  if(NOT EXISTS ${KERNELS}/${file}) # a copy of the project with some of the ops alone
    continue()
  endif()
  string(JSON original GET "${list}" ${index} original)
  kernelgrade_planted_line(${SPEC} ${KERNELS}/${file} "${original}" line)
endforeach()
