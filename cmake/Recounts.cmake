# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_recounts(): counts the operations' costs again on kernels compiled with other options than the blessed ones, and compares
# compiler-independent metrics with the same baselines, to the exact sector (tests/unit/kernels/runtime/host/count/recount.cmake).
#   counts.no_inline.<op>   all operations at -O1 without inlining, except __forceinline__ functions. g++ does not instrument the
#                           access of a call that passes or returns a class (kernels/runtime/host/forceinline.h), so
#                           a kernel with such a call has a lower count
#   counts.gcc<N>.<op>      some operations, with each other installed g++ from version 11 on
# Label nightly; counts.build builds the programs. Pre-merge, label unit: one operation without inlining. Host backend with g++, after the
# last op.
set(KERNELGRADE_OPS_BY_OTHER_COMPILERS elementwise gemm reduction softmax transpose)
set(KERNELGRADE_OP_BY_DAY bias_gelu)
# At -O1 a loop whose iterations some lanes skip stays rolled, and lanes in different iterations are grouped
# (docs/explanation/how_it_works.md). batchnorm_backward reads a channel's parameters in every iteration, one sector per request: its mean
# falls. Elsewhere the last iteration of a row, which some lanes skip, joins the next row's first: as many sectors in fewer requests.
set(KERNELGRADE_KNOWN_WITHOUT_INLINING ${PROJECT_SOURCE_DIR}/tests/unit/kernels/runtime/host/count/known_without_inlining.csv)

set(KERNELGRADE_OTHER_GXX "") # versions
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(version RANGE 11 20)
    find_program(KERNELGRADE_GXX_${version} g++-${version})
    mark_as_advanced(KERNELGRADE_GXX_${version})
    if(KERNELGRADE_GXX_${version} AND NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^${version}[.]")
      list(APPEND KERNELGRADE_OTHER_GXX ${version})
    endif()
  endforeach()
endif()

# kernelgrade_compile_by_other_gxx(<target> <version>): compiles with the same flags; linking is unchanged.
function(kernelgrade_compile_by_other_gxx target version)
  set(launcher ${PROJECT_BINARY_DIR}/recounts/gcc${version}.sh)
  string(CONCAT script "#!/bin/sh\n" "# $1 is the compiler of the build.\n" "shift\n"
    "exec ${KERNELGRADE_CCACHE} ${KERNELGRADE_GXX_${version}} \"$@\"\n")
  file(CONFIGURE OUTPUT ${launcher} CONTENT "${script}" @ONLY)
  file(CHMOD ${launcher} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER ${launcher})
endfunction()

# kernelgrade_add_recount(<name> [BY_DAY] [GXX <version>] OPS <op>... OPTIONS <flag>... [KNOWN <file>])
function(kernelgrade_add_recount name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_DAY" "GXX;KNOWN" "OPS;OPTIONS")
  set(program kernelgrade-cost-${name})
  kernelgrade_cost_program(${program} ${name})
  kernelgrade_list_operations(${PROJECT_BINARY_DIR}/recounts/${name}.cpp ${arg_OPS})
  target_sources(${program} PRIVATE ${PROJECT_BINARY_DIR}/recounts/${name}.cpp)
  set(targets ${program})
  foreach(op IN LISTS arg_OPS)
    set(kernels kernelgrade_${op}_${name})
    get_target_property(sources kernelgrade_${op}_checked SOURCES)
    add_library(${kernels} OBJECT)
    kernelgrade_device_sources(${kernels} ${sources})
    target_link_libraries(${kernels} PUBLIC kernelgrade::runtime)
    kernelgrade_checked_options(${kernels})
    target_compile_options(${kernels} PRIVATE ${arg_OPTIONS})
    if(arg_GXX)
      kernelgrade_compile_by_other_gxx(${kernels} ${arg_GXX})
    endif()
    list(APPEND targets ${kernels})
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
  list(TRANSFORM arg_OPS REPLACE "(.+)" "kernelgrade_\\1_card" OUTPUT_VARIABLE cards)
  target_link_libraries(${program} PRIVATE ${cards}) # after all kernels, like kernelgrade_finish

  foreach(op IN LISTS arg_OPS)
    add_test(NAME counts.${name}.${op} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DOP=${op}
      "-DKNOWN=${arg_KNOWN}" -P ${PROJECT_SOURCE_DIR}/tests/unit/kernels/runtime/host/count/recount.cmake)
    if(arg_BY_DAY)
      set_tests_properties(counts.${name}.${op} PROPERTIES LABELS "unit;op_${op}" TIMEOUT 300)
    else()
      set_tests_properties(counts.${name}.${op} PROPERTIES LABELS "nightly;op_${op}" TIMEOUT 300 FIXTURES_REQUIRED recounts)
    endif()
  endforeach()
  if(NOT arg_BY_DAY)
    set_target_properties(${targets} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(recounts ${program})
  endif()
endfunction()

function(kernelgrade_add_recounts)
  if(NOT TARGET kernelgrade-cost)
    return()
  endif()
  get_property(ops GLOBAL PROPERTY KERNELGRADE_OPS)
  add_custom_target(recounts)
  add_test(NAME counts.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target recounts)
  set_tests_properties(counts.build PROPERTIES LABELS nightly FIXTURES_SETUP recounts RUN_SERIAL ON TIMEOUT 1800)

  set(no_inline -O1 -fno-inline)
  kernelgrade_add_recount(no_inline OPS ${ops} OPTIONS ${no_inline} KNOWN ${KERNELGRADE_KNOWN_WITHOUT_INLINING})
  if(KERNELGRADE_OP_BY_DAY IN_LIST ops)
    kernelgrade_add_recount(no_inline_by_day BY_DAY OPS ${KERNELGRADE_OP_BY_DAY} OPTIONS ${no_inline})
  endif()

  set(some "")
  foreach(op IN LISTS KERNELGRADE_OPS_BY_OTHER_COMPILERS)
    if(op IN_LIST ops)
      list(APPEND some ${op})
    endif()
  endforeach()
  foreach(version IN LISTS KERNELGRADE_OTHER_GXX)
    if(some)
      kernelgrade_add_recount(gcc${version} GXX ${version} OPS ${some})
    endif()
  endforeach()
  if(NOT KERNELGRADE_OTHER_GXX)
    message(STATUS "No other g++ (g++-11, say): counts.gcc* are left out")
  endif()
endfunction()
