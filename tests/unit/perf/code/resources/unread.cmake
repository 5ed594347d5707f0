# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# `resources` of the op OP by PROGRAM without nvdisasm: the columns of machine code are skipped with the reason, the others judged; under
# STRICT that is a failure, and nothing is blessed.
cmake_minimum_required(VERSION 3.25)
set(ENV{KERNELGRADE_NVDISASM} none)
set(ENV{GIT_DIR} none) # uncommitted changes, which also hinder blessing, are another matter

# expect(<code> <text> <argument>...)
function(expect code text)
  execute_process(COMMAND ${PROGRAM} resources --op ${OP} ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE ended)
  if(NOT ended EQUAL code OR NOT "${output}${error}" MATCHES "${text}")
    message(FATAL_ERROR "resources ${ARGN} ended with ${ended}, not ${code}, or did not say \"${text}\":\n${output}${error}")
  endif()
endfunction()

set(ENV{KERNELGRADE_STRICT} "")
expect(0 " pass .*skipped: bytes_in_flight, issue_slots, calls, divisions, loop_calls: nvdisasm not found")
expect(1 "nvdisasm not found" --bless)
set(ENV{KERNELGRADE_STRICT} 1)
expect(1 "skipped: bytes_in_flight")
