# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Anyone's kernels for operations that have a card (docs/judge_a_kernel.md).

# kernelgrade-try, and kernelgrade-try-checked for candidates that are instrumented: every card with its contract. A candidate is a shared
# object that takes the runtime from the program, so all of it is there, used or not.
function(kernelgrade_add_try)
  get_property(ops GLOBAL PROPERTY KERNELGRADE_OPS)
  set(declarations "")
  set(calls "")
  set(cards "")
  foreach(op IN LISTS ops)
    if(TARGET kernelgrade_${op}_card)
      string(APPEND declarations "const Card& ${op}();\n")
      string(APPEND calls "      &${op}(),\n")
      list(APPEND cards kernelgrade_${op}_card)
    endif()
  endforeach()
  if(NOT cards OR NOT KERNELGRADE_BACKEND STREQUAL "host")
    return()
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/cards.cpp.in ${PROJECT_BINARY_DIR}/cards.cpp @ONLY)
  set(whole kernelgrade_runtime kernelgrade_foreign)
  if(TARGET kernelgrade_cublas)
    list(APPEND whole kernelgrade_cublas)
  endif()
  set(programs kernelgrade-try)
  if(TARGET kernelgrade_checkers)
    list(APPEND programs kernelgrade-try-checked)
  endif()
  foreach(program IN LISTS programs)
    set(all ${whole})
    if(program STREQUAL "kernelgrade-try-checked")
      list(APPEND all kernelgrade_checkers)
    endif()
    list(TRANSFORM all REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
    add_executable(${program} ${PROJECT_BINARY_DIR}/cards.cpp)
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/perf)
    target_link_libraries(${program} PRIVATE kernelgrade_candidate ${cards} -Wl,--whole-archive ${files} -Wl,--no-whole-archive ${all})
    kernelgrade_warnings(${program})
  endforeach()
endfunction()

# kernelgrade_add_candidate(<op> <file> [NAME <name>] [DTYPES <dtype>...] [WITHOUT <test>...] [TIMEOUT <seconds>])
#
# A CUDA source that defines C functions of the operation (`kernelgrade-try <op> --signature` prints them), and CTest tests that hold it to
# the operation's contract:
#   <name>.<dtype>            as compiled
#   <name>.checked.<dtype>    instrumented (g++): races, memory errors and the like fail it
# <name>: by default the file's without its ending. DTYPES: by default f32. WITHOUT names tests of the contract that the candidate does not
# claim to pass, as InPlace: they are not run.
function(kernelgrade_add_candidate op file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME;TIMEOUT" "DTYPES;WITHOUT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernelgrade_add_candidate(${op} ${file}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
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
  if(TARGET kernelgrade-try-checked)
    list(APPEND libraries ${name}.checked)
  endif()
  foreach(library IN LISTS libraries)
    set(program kernelgrade-try)
    add_library(${library} MODULE)
    set_target_properties(${library} PROPERTIES PREFIX "")
    # The headers alone: what they declare is the program's.
    target_include_directories(${library} BEFORE PRIVATE $<TARGET_PROPERTY:kernelgrade::foreign,INTERFACE_INCLUDE_DIRECTORIES>
      $<TARGET_PROPERTY:kernelgrade::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${library} PRIVATE KG_BACKEND_CUDA=0)
    target_compile_features(${library} PRIVATE cxx_std_20)
    kernelgrade_rewrite_cuda_sources(${library} ${file})
    if(library MATCHES "[.]checked$")
      set(program kernelgrade-try-checked)
      kernelgrade_checked_options(${library})
    endif()
    foreach(dtype IN LISTS arg_DTYPES)
      add_test(NAME ${library}.${dtype} COMMAND ${program} ${op} $<TARGET_FILE:${library}> "--gtest_filter=*/${dtype}.*${without}"
        --gtest_output=json:${CMAKE_CURRENT_BINARY_DIR}/${library}.${dtype}.json)
      set_tests_properties(${library}.${dtype} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
endfunction()
