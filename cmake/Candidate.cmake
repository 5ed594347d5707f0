# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# User kernels for our operations (docs/how-to/judge_a_kernel.md). Used by this tree and, once installed, by other projects.

# kernelgrade_add_candidate(<op> <file> [NAME <name>] [DTYPES <dtype>...] [WITHOUT <test>...] [LABELS <label>...] [TIMEOUT <seconds>])
#
# Adds a CUDA source that defines the operation's C functions (`kernelgrade try <op> --signature` prints them), and CTest tests that run the
# operation's contract on it:
#   <name>.<dtype>            as compiled
#   <name>.checked.<dtype>    instrumented (g++): fails on races, memory errors and other findings
# <name> defaults to the file's name without its extension, DTYPES to f32. WITHOUT names contract tests to skip, such as InPlace, because
# the candidate does not claim to pass them.
function(kernelgrade_add_candidate op file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME;TIMEOUT" "DTYPES;WITHOUT;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernelgrade_add_candidate(${op} ${file}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET kernelgrade::try)
    message(FATAL_ERROR "kernelgrade_add_candidate(${op} ${file}): candidates run on the host backend; build and install Kernelgrade with "
      "cmake --preset host")
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
  set(without "")
  if(arg_WITHOUT)
    list(TRANSFORM arg_WITHOUT PREPEND "*." OUTPUT_VARIABLE without)
    list(JOIN without ":" without)
    set(without "-${without}")
  endif()

  set(libraries ${name})
  if(TARGET kernelgrade::try-checked)
    list(APPEND libraries ${name}.checked)
  endif()
  foreach(library IN LISTS libraries)
    set(program kernelgrade::try)
    add_library(${library} MODULE)
    set_target_properties(${library} PROPERTIES PREFIX "")
    # Only the headers; the program provides the symbols that they declare.
    target_include_directories(${library} BEFORE PRIVATE $<TARGET_PROPERTY:kernelgrade::foreign,INTERFACE_INCLUDE_DIRECTORIES>
      $<TARGET_PROPERTY:kernelgrade::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${library} PRIVATE KG_BACKEND_CUDA=0)
    target_compile_features(${library} PRIVATE cxx_std_20)
    kernelgrade_rewrite_cuda_sources(${library} ${file})
    if(library MATCHES "[.]checked$")
      set(program kernelgrade::try-checked)
      kernelgrade_checked_options(${library})
    endif()
    foreach(dtype IN LISTS arg_DTYPES)
      add_test(NAME ${library}.${dtype} COMMAND $<TARGET_FILE:${program}> ${op} $<TARGET_FILE:${library}> "--gtest_filter=*/${dtype}.*${without}"
        --gtest_output=json:${CMAKE_CURRENT_BINARY_DIR}/${library}.${dtype}.json)
      set_tests_properties(${library}.${dtype} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
endfunction()
