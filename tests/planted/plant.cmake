# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes FILE, a source below KERNELS, to OUT with entry INDEX of the list SPEC planted.
cmake_minimum_required(VERSION 3.25)
file(READ ${SPEC} list)
foreach(key IN ITEMS name original planted)
  string(JSON ${key} GET "${list}" ${INDEX} ${key})
endforeach()
file(READ ${KERNELS}/${FILE} source)
string(FIND "${source}" "${original}" first)
string(FIND "${source}" "${original}" last REVERSE)
if(first EQUAL -1 OR NOT first EQUAL last)
  message(FATAL_ERROR "${SPEC}: ${name}: \"original\" must occur once in ${FILE}: ${original}")
endif()
string(REPLACE "${original}" "${planted}" source "${source}")
file(WRITE ${OUT}/${FILE} "${source}")
