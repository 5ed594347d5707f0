# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Anyone's kernels for operations that have a card (docs/judge_a_kernel.md). Used by the tree and, installed, by the projects of others.

set(KERNELGRADE_CANDIDATE_MAIN ${CMAKE_CURRENT_LIST_DIR}/candidate.cpp.in)

# kernelgrade_add_candidate(<op> <file> [NAME <name>] [DTYPES <dtype>...] [WITHOUT <test>...] [LIBRARIES <library>...] [TIMEOUT <seconds>])
#
# A CUDA source that defines the operation's C functions (`kernelgrade try <op> --signature`), and CTest tests that hold it to the
# contract of the operation:
#   <name>.<dtype>            as compiled
#   <name>.checked.<dtype>    on the host backend: instrumented; races, memory errors and the like fail it (needs g++)
# <name>: by default the file's without its ending. DTYPES: by default f32. WITHOUT names tests of the contract that the candidate does not
# claim to pass, as InPlace; they are not run.
function(kernelgrade_add_candidate op file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME;TIMEOUT" "DTYPES;WITHOUT;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernelgrade_add_candidate(${op} ${file}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET kernelgrade_${op}_card)
    message(FATAL_ERROR "kernelgrade_add_candidate(${op} ${file}): there is no card of an operation ${op}")
  endif()
  set(name ${arg_NAME})
  if(NOT name)
    cmake_path(GET file STEM name)
  endif()
  if(NOT arg_DTYPES)
    set(arg_DTYPES f32)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  set(programs ${name})
  if(TARGET kernelgrade::checkers AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND programs ${name}.checked)
  endif()
  configure_file(${KERNELGRADE_CANDIDATE_MAIN} ${CMAKE_CURRENT_BINARY_DIR}/${name}.main.cpp @ONLY)
  foreach(program IN LISTS programs)
    add_library(${program}.cu OBJECT)
    kernelgrade_add_cuda_sources(${program}.cu ${file})
    kernelgrade_link_cuda(${program}.cu ${arg_LIBRARIES})
    add_executable(${program} ${CMAKE_CURRENT_BINARY_DIR}/${name}.main.cpp $<TARGET_OBJECTS:${program}.cu>)
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON) # the candidate's functions are found by their names
    target_link_libraries(${program} PRIVATE kernelgrade_candidate kernelgrade_${op}_card ${arg_LIBRARIES})
    kernelgrade_link_cuda(${program})
    if(program MATCHES "[.]checked$")
      kernelgrade_checked_options(${program}.cu)
      target_link_libraries(${program} PRIVATE kernelgrade::checkers)
    endif()
    foreach(dtype IN LISTS arg_DTYPES)
      set(filter "*/${dtype}.*")
      foreach(test IN LISTS arg_WITHOUT)
        if(filter MATCHES "-")
          string(APPEND filter ":*.${test}")
        else()
          string(APPEND filter "-*.${test}")
        endif()
      endforeach()
      add_test(NAME ${program}.${dtype} COMMAND ${program} --gtest_filter=${filter}
        --gtest_output=json:${CMAKE_CURRENT_BINARY_DIR}/${program}.${dtype}.json)
      set_tests_properties(${program}.${dtype} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
endfunction()
