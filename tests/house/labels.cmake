# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every registered test of BUILD has exactly one tier among its labels, and no label contains another label: `ctest -L` takes a regular
# expression, so `-L perf` would also select a label `perf_fast`. Only operation labels may be prefixes of each other. A nightly test
# belongs to a slice of .ci/slice.py (unit.slices); of_<word> names the tool that it tests.
cmake_minimum_required(VERSION 3.25)
set(tiers correctness checked ptx mutants unit perf sanitize model fuzz nightly)

include(${CMAKE_CURRENT_LIST_DIR}/listed_tests.cmake)
listed_tests(${BUILD})
set(all ${tiers})
foreach(name IN LISTS listed)
  set(labels ${labels_${name}})
  set(own "")
  foreach(label IN LISTS labels)
    if(label IN_LIST tiers)
      list(APPEND own ${label})
    endif()
  endforeach()
  list(LENGTH own number)
  if(NOT number EQUAL 1)
    message(SEND_ERROR "${name}: its labels \"${labels}\" hold ${number} tiers; give it exactly one of: ${tiers}")
  endif()
  list(APPEND all ${labels})
endforeach()

list(REMOVE_DUPLICATES all)
foreach(label IN LISTS all)
  foreach(other IN LISTS all)
    string(FIND "${label}" "${other}" at)
    # The label of an operation is a prefix of its gradient's (op_softmax, op_softmax_backward): select these with anchors, '^op_softmax$'.
    if(label MATCHES "^op_" AND other MATCHES "^op_")
      continue()
    endif()
    if(NOT label STREQUAL other AND NOT at EQUAL -1)
      message(SEND_ERROR "label \"${label}\" contains \"${other}\": `ctest -L ${other}` would choose both; rename one")
    endif()
  endforeach()
endforeach()
list(LENGTH listed count)
message("${count} tests, labels: ${all}")
