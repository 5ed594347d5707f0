# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_resource_spec(<file>)
#
# Lists the GPUs of this machine for CTest (cmake.org, ctest(1), "Resource Allocation"), one test at a time on each: with
# `ctest --resource-spec-file <file> -j N`, tests of kernelgrade_needs_gpu run side by side, each on a GPU of its own
# (tests/support/given_gpu.h). With fewer than two GPUs there is nothing to give out, so there is no file.
#
# kernelgrade_needs_gpu(<test>...)
#
# Tests that need a GPU: of several one each, else all of them the same, one after another.

function(kernelgrade_resource_spec file)
  set(gpus "")
  find_program(KERNELGRADE_NVIDIA_SMI nvidia-smi)
  if(KERNELGRADE_NVIDIA_SMI)
    execute_process(COMMAND ${KERNELGRADE_NVIDIA_SMI} --query-gpu=index --format=csv,noheader
      OUTPUT_VARIABLE indices RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+" gpus "${indices}")
    endif()
  endif()
  list(LENGTH gpus count)
  if(count LESS 2)
    file(REMOVE ${file})
    return()
  endif()
  list(TRANSFORM gpus REPLACE "(.+)" "{\"id\": \"\\1\", \"slots\": 1}")
  list(JOIN gpus ", " gpus)
  file(WRITE ${file} "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
  message(STATUS "${count} GPUs: ctest --resource-spec-file ${file} gives each test one")
endfunction()

function(kernelgrade_needs_gpu)
  if(EXISTS ${PROJECT_BINARY_DIR}/gpus.json)
    set_tests_properties(${ARGN} PROPERTIES RESOURCE_GROUPS "gpus:1")
  else()
    set_tests_properties(${ARGN} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()
