# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_resource_spec(<file>)
#
# Lists this machine's GPUs for CTest (cmake.org, ctest(1), "Resource Allocation"), each with eight slots. With `ctest --resource-spec-file
# <file> -j N`, as `./grade` and the preset cuda call it, eight tests of kernelgrade_needs_gpu share a GPU, since they spend most of their
# time on the CPU. tests/support/given_gpu.h selects the GPU that CTest assigned. If nvidia-smi lists no GPU, the list still has one entry,
# so that the tests run and skip or fail by themselves.
#
# kernelgrade_needs_gpu(<test>...)
#
# Tests that need a GPU and share it. Timed tests run alone instead (RUN_SERIAL).

set(KERNELGRADE_TESTS_PER_GPU 8)

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
  if(NOT gpus)
    set(gpus 0)
  endif()
  list(LENGTH gpus count)
  list(TRANSFORM gpus REPLACE "(.+)" "{\"id\": \"\\1\", \"slots\": ${KERNELGRADE_TESTS_PER_GPU}}")
  list(JOIN gpus ", " gpus)
  file(WRITE ${file} "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
  message(STATUS "ctest --resource-spec-file ${file} runs ${KERNELGRADE_TESTS_PER_GPU} tests at a time on each of ${count} GPUs")
endfunction()

function(kernelgrade_needs_gpu)
  set_tests_properties(${ARGN} PROPERTIES RESOURCE_GROUPS "gpus:1")
endfunction()
