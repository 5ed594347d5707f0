# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes FILE, a source below KERNELS, with entry INDEX of the list SPEC planted, to OUT.
cmake_minimum_required(VERSION 3.25)
file(READ ${SPEC} list)
include(${CMAKE_CURRENT_LIST_DIR}/line.cmake)
foreach(key IN ITEMS original planted)
  string(JSON ${key} GET "${list}" ${INDEX} ${key})
endforeach()
file(READ ${KERNELS}/${FILE} source)
kernelgrade_planted_line(${SPEC} ${KERNELS}/${FILE} "${original}" line)
string(REPLACE "${original}" "${planted}" source "${source}")
file(WRITE ${OUT}/${FILE} "${source}")
