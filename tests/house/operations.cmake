# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/operations.md in SOURCE has a line for every operation of the build, and none for any other.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE}/CMakeLists.txt added REGEX "^kernelgrade_add_op\\(")
list(TRANSFORM added REPLACE "^kernelgrade_add_op\\(([a-z_0-9]+).*" "\\1")
file(STRINGS ${SOURCE}/docs/operations.md listed REGEX "^\\| `")
list(TRANSFORM listed REPLACE "^\\| `([a-z_0-9]+)`.*" "\\1")
if(NOT added)
  message(FATAL_ERROR "${SOURCE}/CMakeLists.txt adds no operation")
endif()
foreach(op IN LISTS added)
  if(NOT op IN_LIST listed)
    message(SEND_ERROR "docs/operations.md has no line for ${op}")
  endif()
endforeach()
foreach(op IN LISTS listed)
  if(NOT op IN_LIST added)
    message(SEND_ERROR "docs/operations.md has a line for ${op}, which CMakeLists.txt does not add")
  endif()
endforeach()
