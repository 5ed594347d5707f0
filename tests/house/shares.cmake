# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/results/theoretical_minimum.md in SOURCE has every line of PROGRAM: the blessed costs' shares of the theoretical minimum.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} list --shares OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\| [a-z][^\n]*" lines "${table}")
list(LENGTH lines count)
if(count LESS 2)
  message(FATAL_ERROR "${PROGRAM} list --shares shows no operation:\n${table}")
endif()
file(READ ${SOURCE}/docs/results/theoretical_minimum.md docs)
foreach(line IN LISTS lines)
  string(FIND "${docs}" "\n${line}\n" at)
  if(at EQUAL -1)
    message(SEND_ERROR "docs/results/theoretical_minimum.md lacks the line\n${line}\nPut what `kernelgrade list --shares` prints in its table's place")
  endif()
endforeach()
