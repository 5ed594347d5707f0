# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# User kernels: ordinary CUDA sources in the tests of either backend (docs/how-to/test_in_your_project.md). Used by this tree and, once
# installed, by other projects.

# kernelgrade_add_cuda_sources(<target> <file>...)
#
# Adds CUDA sources to a target. On cuda, nvcc compiles them unchanged. On host, they are rewritten at build time (launches and `extern
# __shared__`; line numbers stay) and compiled as C++, and all sources of the target include our headers instead of CUDA's.
function(kernelgrade_add_cuda_sources target)
  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  kernelgrade_link_cuda(${target})
  kernelgrade_rewrite_cuda_sources(${target} ${ARGN})
endfunction()

# The rewritten sources that compile on host.
function(kernelgrade_rewrite_cuda_sources target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.cuda)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "kernelgrade_add_cuda_sources(${target}): ${file} is missing")
    endif()
    cmake_path(GET file FILENAME name)
    cmake_path(GET file PARENT_PATH root)
    cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${file} NORMALIZE inside)
    if(inside)
      set(root ${CMAKE_SOURCE_DIR})
    endif()
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root} OUTPUT_VARIABLE output)
    set(output ${folder}/${output}.cpp)
    add_custom_command(
      OUTPUT ${output}
      COMMAND kernelgrade::rewrite ${file} ${output} --root ${root} --copies ${folder}/headers --depfile ${output}.d
              "-I$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,;-I>"
      DEPENDS ${file} kernelgrade::rewrite
      DEPFILE ${output}.d
      COMMENT "Rewriting ${name} for the host" COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE ${output})
    # nvcc knows more pragmas, `#pragma unroll` above all. CUDA code reads floats as int4 and similar types.
    set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "-Wno-unknown-pragmas;-fno-strict-aliasing")
  endforeach()
endfunction()

# kernelgrade_add_kernel_test(<name> SOURCES <file>... [LIBRARIES <library>...] [DEFINITIONS <macro>...] [ARGUMENTS <word>...]
#                             [LABELS <label>...] [TIMEOUT <seconds>] [CHECKED [FLOAT_DIVISION]] [COST_SOURCES <file>...])
#
# A test program from CUDA sources (.cu) and C++ sources. One source has main(), or a library provides it. Adds CTest tests that run the
# program with ARGUMENTS:
#   <name>           compiled plainly
#   <name>.checked   with CHECKED, on the host backend: the CUDA sources are instrumented, and races, memory errors and other findings
#                    fail the test; with FLOAT_DIVISION also a floating-point division by zero. Needs g++; other compilers print a
#                    message instead.
#   <name>.cost      with COST_SOURCES, under the same conditions: the instrumented CUDA sources with these C++ sources instead of the
#                    others, linked with kernelgrade::counters and kernelgrade::cost.
# DEFINITIONS apply to the CUDA sources. TIMEOUT (default 300) applies to each test.
function(kernelgrade_add_kernel_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CHECKED;FLOAT_DIVISION" "TIMEOUT" "SOURCES;COST_SOURCES;LIBRARIES;DEFINITIONS;ARGUMENTS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernelgrade_add_kernel_test(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(cuda_sources ${arg_SOURCES})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cu$")
  if(NOT cuda_sources)
    message(FATAL_ERROR "kernelgrade_add_kernel_test(${name}): SOURCES must name a CUDA source (.cu)")
  endif()
  list(REMOVE_ITEM arg_SOURCES ${cuda_sources})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(float_division "")
  if(arg_FLOAT_DIVISION)
    set(float_division FLOAT_DIVISION)
  endif()

  # The C++ sources compile once; each program compiles its own CUDA sources, since only these are instrumented.
  set(objects "")
  if(arg_SOURCES)
    add_library(${name}.cpp OBJECT ${arg_SOURCES})
    kernelgrade_link_cuda(${name}.cpp ${arg_LIBRARIES})
    set(objects $<TARGET_OBJECTS:${name}.cpp>)
  endif()
  set(programs ${name})
  set(instrumented "")
  if(arg_CHECKED)
    list(APPEND instrumented ${name}.checked)
  endif()
  if(arg_COST_SOURCES)
    list(APPEND instrumented ${name}.cost)
  endif()
  if(instrumented AND KERNELGRADE_BACKEND STREQUAL "host")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TARGET kernelgrade::checkers)
      list(APPEND programs ${instrumented})
    else()
      list(JOIN instrumented " and " left_out)
      message(STATUS "Left out: ${left_out}. Checkers and counters need g++ here and where Kernelgrade was built")
    endif()
  endif()
  foreach(program IN LISTS programs)
    add_library(${program}.cu OBJECT)
    kernelgrade_add_cuda_sources(${program}.cu ${cuda_sources})
    kernelgrade_link_cuda(${program}.cu ${arg_LIBRARIES})
    target_compile_definitions(${program}.cu PRIVATE ${arg_DEFINITIONS})
    if(program STREQUAL "${name}.cost")
      add_executable(${program} ${arg_COST_SOURCES} $<TARGET_OBJECTS:${program}.cu>)
    else()
      add_executable(${program} ${objects} $<TARGET_OBJECTS:${program}.cu>)
    endif()
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX ENABLE_EXPORTS ON) # kernel names in messages
    kernelgrade_link_cuda(${program} ${arg_LIBRARIES})
    if(program IN_LIST instrumented)
      kernelgrade_checked_options(${program}.cu ${float_division})
    endif()
    if(program STREQUAL "${name}.checked")
      target_compile_options(${program}.cu PRIVATE -UNDEBUG) # assertions in kernels
      target_link_libraries(${program} PRIVATE kernelgrade::checkers)
    elseif(program STREQUAL "${name}.cost")
      target_link_libraries(${program} PRIVATE kernelgrade::counters kernelgrade::cost)
    endif()
    add_test(NAME ${program} COMMAND ${program} ${arg_ARGUMENTS})
    set_tests_properties(${program} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  endforeach()
endfunction()

# kernelgrade_link_cuda(<target> [<library>...]): links the runtime and the libraries; on host our headers replace CUDA's.
function(kernelgrade_link_cuda target)
  target_link_libraries(${target} PRIVATE kernelgrade::runtime ${ARGN})
  if(KERNELGRADE_BACKEND STREQUAL "host")
    target_link_libraries(${target} PRIVATE kernelgrade::foreign)
    # Before all other folders: the headers of a CUDA toolkit must not be found first.
    target_include_directories(${target} BEFORE PRIVATE $<TARGET_PROPERTY:kernelgrade::foreign,INTERFACE_INCLUDE_DIRECTORIES>)
    # Thrust, if a toolkit or libthrust-dev provides it.
    find_path(KERNELGRADE_CCCL thrust/version.h HINTS "${CUDAToolkit_ROOT}" /usr/local/cuda ENV CUDA_HOME ENV CUDA_PATH
      PATH_SUFFIXES include/cccl cccl targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include/cccl)
    mark_as_advanced(KERNELGRADE_CCCL)
    if(KERNELGRADE_CCCL AND NOT KERNELGRADE_CCCL STREQUAL "/usr/include")
      target_include_directories(${target} SYSTEM PRIVATE ${KERNELGRADE_CCCL})
    endif()
  endif()
endfunction()
