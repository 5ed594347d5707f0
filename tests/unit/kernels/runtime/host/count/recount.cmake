# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Gates the costs of the op OP by PROGRAM, whose kernels are compiled otherwise than the blessed ones. What does not depend on the
# compiler must be as blessed: to the gate less is an improvement, here it is a difference, too. What may depend on it the gate prints
# in parentheses. KNOWN: a CSV file of the rows that may differ; empty: none may.
cmake_minimum_required(VERSION 3.25)
set(known_rows "")
if(KNOWN)
  file(STRINGS ${KNOWN} known_rows)
endif()
execute_process(COMMAND ${PROGRAM} gate --cost --op ${OP} OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE code)
string(REGEX REPLACE "[][;]" "," output "${output}${error}") # which would join or split the elements of a list
string(REPLACE "\n" ";" lines "${output}")
set(differ 0)
set(known 0)
foreach(line IN LISTS lines)
  if(line STREQUAL "" OR line MATCHES "^[(]")
    continue()
  endif()
  message("${line}")
  if(line MATCHES " [(]exit [0-9]+[)]$") # how many rows had which verdict
    continue()
  endif()
  string(REGEX MATCH "^[^:]*" row "${line}")
  string(REPLACE " " "," row "${row}")
  if(row IN_LIST known_rows)
    math(EXPR known "${known} + 1")
  else()
    math(EXPR differ "${differ} + 1")
  endif()
endforeach()
if(differ GREATER 0 OR (NOT code EQUAL 0 AND known EQUAL 0))
  message(FATAL_ERROR "${differ} lines tell of counts that are not as blessed (the gate ended with ${code}); "
    "reproduce: ${PROGRAM} gate --cost --op ${OP}")
endif()
