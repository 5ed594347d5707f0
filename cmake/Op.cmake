# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_op(<op> CATEGORY <category> DTYPES <dtype>... [SOURCES <file>...] [TEXTS <file>...] [USES <op>...]
#   [KERNELS_IN_TESTS])
#
# Adds an operation. From these files, all of which must exist:
#   kernels/ops/<op>/<op>.h, kernels/ops/<op>/<SOURCES> (default <op>.cu)   the kernels
#   tests/ops/<op>/<op>_card.cu                                     the operation's description (tests/contract/card.h)
#   tests/ops/<op>/<op>_test.cu                                     the operation's own tests
# it makes
#   kernelgrade_<op>           the kernels as users link them; plain.kernelgrade_<op> links them into an ordinary program
#   kernelgrade_<op>_checked   the same sources for the checkers (host backend and g++ only)
#   <op>_test                  one CTest test correctness.<op>.<dtype> per type, label correctness
#   <op>_checked_test          the same tests under the checkers: checked.<op>.<dtype>, and .reverse and .random with other thread
#                              orders; label checked (other orders and types: nightly)
#   ptx.<op>.<dtype>           CTest tests: the same tests on the kernels' PTX from nvcc (host backend, nvcc), label ptx (first type of
#                              some ops; else nightly)
#   ptx_checked.<op>.<dtype>   the same under the checkers, label nightly
#   ptx_latitude.<op>.<dtype> ptx.* with other behavior that the PTX ISA permits, label nightly
#   sanitize.<tool>.<op>       the tests under each tool of compute-sanitizer (cuda backend), label sanitize
#   mutants.<op>               CTest test: the tests find the bugs of tests/ops/<op>/mutants.json (host backend, g++)
#   perf.<op>.<dtype>          CTest tests that gate the timings, label perf (nightly on the host for an op without baseline)
#   resource.<op>              CTest test that gates spills, shared memory, occupancy and split accesses (host backend, nvcc), label perf
#   cost.<op>                  CTest test that gates the costs counted on the executor (host backend, g++), label perf
# It also registers the op with the `kernelgrade` command. Call kernelgrade_finish() after the last op. USES: ops whose `run` this op calls;
# add them first. TEXTS: kernels that compile at run time, kernels/ops/<op>/<name>.cuh; each becomes the string kg::<op>::<name>, declared
# in kernels/ops/<op>/<name>.h. KERNELS_IN_TESTS: <op>_test.cu has its own kernels.

include(Embed)

include(Gpus)
if(KERNELGRADE_BACKEND STREQUAL "cuda")
  kernelgrade_resource_spec(${PROJECT_BINARY_DIR}/gpus.json)
endif()

set(KERNELGRADE_OPS "" CACHE STRING "The operations to build and test, as a list; empty: all")

# Headers that nearly all of them include. In angle brackets, CMake leaves the names unchanged.
set(KERNELGRADE_HEADERS_OF_KERNELS <algorithm> <cstdint> <string> <string_view> <vector>
  <runtime/device_code.h> <runtime/launch.h> <runtime/preconditions.h>)
set(KERNELGRADE_HEADERS_OF_TESTS <cmath> <cstdint> <limits> <string> <utility> <vector> <gtest/gtest.h>
  <runtime/buffer.h> <runtime/device.h> <runtime/launch.h>)
foreach(name IN ITEMS oracle/compare oracle/fills oracle/strided oracle/vendor_comparison support/case support/device_types support/huge
    support/hygiene support/metamorphic support/repeats support/vacuity)
  list(APPEND KERNELGRADE_HEADERS_OF_TESTS <tests/${name}.h>)
endforeach()
set(KERNELGRADE_HEADERS_OF_CARDS <runtime/device.h> <tests/contract/card.h> <tests/contract/samples.h> <tests/oracle/fills.h>)

# Operations without a baseline on the host, from device.json. For all others, a missing baseline file must fail the pre-merge tests.
set(KERNELGRADE_HOST_NOT_BLESSED "")
set(device ${PROJECT_SOURCE_DIR}/baselines/host/device.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${device})
file(READ ${device} json)
string(JSON count LENGTH "${json}" not_blessed)
if(count GREATER 0)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON op GET "${json}" not_blessed ${i})
    list(APPEND KERNELGRADE_HOST_NOT_BLESSED ${op})
  endforeach()
endif()

function(kernelgrade_add_op op)
  cmake_parse_arguments(PARSE_ARGV 1 arg "KERNELS_IN_TESTS" "CATEGORY" "DTYPES;SOURCES;TEXTS;USES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kernelgrade_add_op(${op}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_CATEGORY OR NOT arg_DTYPES)
    message(FATAL_ERROR "kernelgrade_add_op(${op}): CATEGORY and DTYPES are required")
  endif()
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${op}.cu)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/kernels/ops/${op}/ OUTPUT_VARIABLE kernels)
  set(card ${PROJECT_SOURCE_DIR}/tests/ops/${op}/${op}_card.cu)
  set(test ${PROJECT_SOURCE_DIR}/tests/ops/${op}/${op}_test.cu)
  foreach(file IN LISTS kernels ITEMS ${PROJECT_SOURCE_DIR}/kernels/ops/${op}/${op}.h ${test} ${card})
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "kernelgrade_add_op(${op}): ${file} is missing; an op has kernels, a card and tests of its own")
    endif()
  endforeach()

  set(used "")
  foreach(other IN LISTS arg_USES)
    if(NOT TARGET kernelgrade_${other})
      message(FATAL_ERROR "kernelgrade_add_op(${op}): it uses ${other}, which is not added before it; move ${op} behind it")
    endif()
    list(APPEND used kernelgrade_${other})
  endforeach()
  set(used_checked ${used})
  list(TRANSFORM used_checked APPEND _checked)
  set_property(GLOBAL PROPERTY KERNELGRADE_USED_BY_${op} ${used})

  set(texts "")
  if(arg_TEXTS)
    kernelgrade_write_texts(${op} texts ${arg_TEXTS})
  endif()
  add_library(kernelgrade_${op} STATIC ${texts})
  kernelgrade_device_sources(kernelgrade_${op} ${kernels})
  target_link_libraries(kernelgrade_${op} PUBLIC kernelgrade::runtime ${used})
  kernelgrade_kernel_options(kernelgrade_${op})
  kernelgrade_warnings(kernelgrade_${op})
  kernelgrade_precompile(kernelgrade_${op} kernels ${KERNELGRADE_HEADERS_OF_KERNELS})

  kernelgrade_add_plain_program(kernelgrade_${op} op_${op})

  if(TARGET kernelgrade::checkers)
    add_library(kernelgrade_${op}_checked STATIC ${texts})
    kernelgrade_device_sources(kernelgrade_${op}_checked ${kernels})
    target_link_libraries(kernelgrade_${op}_checked PUBLIC kernelgrade::runtime ${used_checked})
    kernelgrade_checked_options(kernelgrade_${op}_checked)
    kernelgrade_warnings(kernelgrade_${op}_checked)
    kernelgrade_precompile(kernelgrade_${op}_checked checked ${KERNELGRADE_HEADERS_OF_KERNELS})
  endif()

  # An op that was not selected gets only its kernels, built on demand for the ops that use them.
  if(KERNELGRADE_OPS AND NOT op IN_LIST KERNELGRADE_OPS)
    set_target_properties(kernelgrade_${op} PROPERTIES EXCLUDE_FROM_ALL ON)
    if(TARGET kernelgrade_${op}_checked)
      set_target_properties(kernelgrade_${op}_checked PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    return()
  endif()

  add_library(kernelgrade_${op}_tests OBJECT)
  if(arg_KERNELS_IN_TESTS)
    kernelgrade_device_sources(kernelgrade_${op}_tests ${test})
  else()
    kernelgrade_host_sources(kernelgrade_${op}_tests ${test})
  endif()
  target_link_libraries(kernelgrade_${op}_tests PUBLIC kernelgrade::vendor kernelgrade_test_main)
  kernelgrade_add_card(${op} ${card} CATEGORY ${arg_CATEGORY} DTYPES ${arg_DTYPES})
  target_link_libraries(kernelgrade_${op}_tests PUBLIC kernelgrade_${op}_card kernelgrade_contract)
  target_sources(kernelgrade_${op}_tests PRIVATE ${PROJECT_BINARY_DIR}/cards/${op}_contract.cpp)
  target_compile_options(kernelgrade_${op}_tests PRIVATE ${KERNELGRADE_BRIEF_COMPILATION})
  kernelgrade_warnings(kernelgrade_${op}_tests)
  kernelgrade_precompile(kernelgrade_${op}_tests tests ${KERNELGRADE_HEADERS_OF_TESTS})
  kernelgrade_op_test_program(${op}_test kernelgrade_${op} kernelgrade_${op}_tests)
  if(NOT TARGET correctness)
    add_custom_target(correctness) # the programs of this label
    if(TARGET kernelgrade_operation_headers)
      add_dependencies(correctness kernelgrade_operation_headers)
    endif()
  endif()
  add_dependencies(correctness ${op}_test)
  if(TARGET kernelgrade_${op}_checked)
    kernelgrade_op_test_program(${op}_checked_test kernelgrade_${op}_checked kernelgrade_${op}_tests kernelgrade::checkers)
    # Kernels first: the linker takes the first definition of an inline function that the tests share, and it must be the instrumented one.
    target_sources(${op}_checked_test PRIVATE $<TARGET_OBJECTS:kernelgrade_${op}_checked>)
    kernelgrade_add_mutants(${op} CATEGORY ${arg_CATEGORY} SOURCES ${arg_SOURCES} LIBRARIES ${used_checked})
    target_sources(kernelgrade_${op}_mutants PRIVATE ${texts})
  endif()

  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    foreach(tool IN ITEMS memcheck racecheck initcheck synccheck)
      add_test(NAME sanitize.${tool}.${op} COMMAND ${PROJECT_SOURCE_DIR}/tests/sanitize.sh ${tool} $<TARGET_FILE:${op}_test>)
      set_tests_properties(sanitize.${tool}.${op} PROPERTIES
        LABELS "sanitize;cat_${arg_CATEGORY};op_${op}" TIMEOUT 600 SKIP_RETURN_CODE 77)
      kernelgrade_needs_gpu(sanitize.${tool}.${op})
    endforeach()
  endif()

  # Before a merge, the PTX tests run for a few ops that cover every kind of kernel (PTX mutants are planted in these ops).
  set(ptx_by_day "")
  if(op STREQUAL KERNELGRADE_OP_WITHOUT_NVDISASM OR EXISTS ${PROJECT_SOURCE_DIR}/tests/ops/${op}/ptx_mutants.json)
    set(ptx_by_day IN_ALL)
  endif()
  kernelgrade_add_resources(${op} CATEGORY ${arg_CATEGORY} SOURCES ${kernels} ${ptx_by_day})

  set_property(GLOBAL APPEND PROPERTY KERNELGRADE_OPS ${op})
  kernelgrade_add_grade_target(${op})

  # Tests run in parallel: waiting OpenMP threads of a library must not occupy the core of another test.
  set(beside_others OMP_WAIT_POLICY=passive)
  foreach(dtype IN LISTS arg_DTYPES)
    list(FIND arg_DTYPES ${dtype} index)
    # The results of these tests, like those of the others, are stored for `kernelgrade report`.
    add_test(NAME correctness.${op}.${dtype} COMMAND ${op}_test --dtype ${dtype}
      --gtest_output=json:${PROJECT_BINARY_DIR}/results/correctness.${op}.${dtype}.json)
    set_tests_properties(correctness.${op}.${dtype} PROPERTIES
      LABELS "correctness;cat_${arg_CATEGORY};op_${op}" TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT ${beside_others})
    # The same tests again on the PTX that nvcc made of the kernels (kernels/runtime/ptx).
    if(KERNELGRADE_BACKEND STREQUAL "host" AND KERNELGRADE_NVCC)
      list(GET KERNELGRADE_RESOURCE_ARCHS -1 arch)
      kernelgrade_resource_folder(${arch} folder)
      foreach(tier IN ITEMS ptx ptx_checked)
        string(REPLACE ptx "" program ${op}${tier}_test) # ptx_checked uses the checkers' program
        if(NOT TARGET ${program})
          continue()
        endif()
        set(label ptx)
        if(index GREATER 0 OR tier STREQUAL ptx_checked OR NOT ptx_by_day)
          set(label nightly)
        endif()
        add_test(NAME ${tier}.${op}.${dtype} COMMAND ${program} --dtype ${dtype})
        set_tests_properties(${tier}.${op}.${dtype} PROPERTIES
          LABELS "${label};cat_${arg_CATEGORY};op_${op}" TIMEOUT 900 SKIP_RETURN_CODE 77
          ENVIRONMENT "${beside_others};KERNELGRADE_PTX=${folder}")
        if(label STREQUAL nightly)
          set_tests_properties(${tier}.${op}.${dtype} PROPERTIES FIXTURES_REQUIRED fatbins_${op})
        endif()
      endforeach()
      # And again with behavior that the PTX ISA permits on a GPU (kernels/runtime/ptx/isa_latitude.h); a correct kernel passes both.
      add_test(NAME ptx_latitude.${op}.${dtype} COMMAND ${op}_test --dtype ${dtype})
      set_tests_properties(ptx_latitude.${op}.${dtype} PROPERTIES
        LABELS "nightly;cat_${arg_CATEGORY};op_${op}" TIMEOUT 900 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED fatbins_${op}
        ENVIRONMENT "${beside_others};KERNELGRADE_PTX=${folder};KERNELGRADE_PTX_APPROX=1;KERNELGRADE_PTX_FUSE=1")
      if(TEST ptx_checked.${op}.${dtype})
        set_property(TEST ptx_checked.${op}.${dtype} APPEND PROPERTY ENVIRONMENT KERNELGRADE_VIRTUAL_DEVICE=small)
      endif()
    endif()
    if(TARGET ${op}_checked_test)
      # Pre-merge, the first type runs in one order: the checkers know in any order which thread waits for which. Nightly, it runs in two
      # further orders, and the other types, whose kernels are instances of the same templates, run in one.
      set(orders .random)
      if(index EQUAL 0)
        set(orders "" .reverse .random)
      endif()
      foreach(order IN LISTS orders)
        set(label checked)
        set(environment "${beside_others};KERNELGRADE_VIRTUAL_DEVICE=small")
        if(order)
          set(label nightly)
          string(REPLACE . KERNELGRADE_THREAD_ORDER= variable ${order})
          string(REPLACE random random:20260117 variable ${variable})
          list(APPEND environment ${variable})
        endif()
        add_test(NAME checked.${op}.${dtype}${order} COMMAND ${op}_checked_test --dtype ${dtype})
        set_tests_properties(checked.${op}.${dtype}${order} PROPERTIES
          LABELS "${label};cat_${arg_CATEGORY};op_${op}" TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
      endforeach()
    endif()
    # A row that looks slower is measured interleaved with the commit that blessed it. With KERNELGRADE_CONFIRM=auto that commit is built if
    # necessary.
    add_test(NAME perf.${op}.${dtype} COMMAND kernelgrade gate --op ${op} --dtype ${dtype}
      --json ${PROJECT_BINARY_DIR}/results/${op}.${dtype}.json)
    # On the host, times without a baseline are not informative until they are blessed. Times of further types add little to those of the
    # first type, so they run nightly; their GPU costs are counted before a merge.
    set(label perf)
    if(KERNELGRADE_BACKEND STREQUAL "host" AND (index GREATER 0 OR op IN_LIST KERNELGRADE_HOST_NOT_BLESSED))
      set(label nightly)
    endif()
    set_tests_properties(perf.${op}.${dtype} PROPERTIES
      LABELS "${label};cat_${arg_CATEGORY};op_${op}" TIMEOUT 2400 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
    if(KERNELGRADE_BACKEND STREQUAL "cuda")
      kernelgrade_needs_gpu(correctness.${op}.${dtype})
    endif()
  endforeach()
  if(TARGET kernelgrade-cost) # all types at once: for most ops, half of the time is process start-up
    add_test(NAME cost.${op} COMMAND kernelgrade gate --cost --op ${op} --json ${PROJECT_BINARY_DIR}/results/cost.${op}.json)
    set_tests_properties(cost.${op} PROPERTIES LABELS "perf;cat_${arg_CATEGORY};op_${op}" TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
  # CTest starts expensive tests first. Ops with many kernels take longest in all tests and would otherwise run alone at the end.
  list(LENGTH arg_SOURCES cost)
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(FILTER tests INCLUDE REGEX "[.]${op}([.]|$)")
  set_tests_properties(${tests} PROPERTIES COST ${cost})
endfunction()

# kernelgrade_add_card(<op> <file> CATEGORY <category> DTYPES <dtype>...): the op's card with its name, category and types, and its contract
# tests for GoogleTest.
function(kernelgrade_add_card op file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CATEGORY" "DTYPES")
  list(JOIN arg_DTYPES " " dtypes)
  set(category ${arg_CATEGORY})
  foreach(part IN ITEMS card contract)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${part}.cpp.in ${PROJECT_BINARY_DIR}/cards/${op}_${part}.cpp @ONLY)
    # Smaller than the precompiled headers of its target.
    set_source_files_properties(${PROJECT_BINARY_DIR}/cards/${op}_${part}.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
  add_library(kernelgrade_${op}_card STATIC ${PROJECT_BINARY_DIR}/cards/${op}_card.cpp)
  kernelgrade_host_sources(kernelgrade_${op}_card ${file})
  target_link_libraries(kernelgrade_${op}_card PUBLIC kernelgrade_${op} kernelgrade::vendor kernelgrade_card)
  target_compile_options(kernelgrade_${op}_card PRIVATE ${KERNELGRADE_BRIEF_COMPILATION})
  kernelgrade_warnings(kernelgrade_${op}_card)
  kernelgrade_precompile(kernelgrade_${op}_card cards ${KERNELGRADE_HEADERS_OF_CARDS})
endfunction()

# grade_<op>: everything that the op's tests with the labels correctness and perf run, without the suite's own tests; grade: the same for
# all ops. (tests/house/built.cmake compares both with the list of CTest.) nvcc's output and the counting programs are not included: ./grade
# builds them when necessary (kernelgrade resources --changed, kernelgrade gate --cost --changed).
function(kernelgrade_add_grade_target op)
  add_custom_target(grade_${op} DEPENDS ${op}_test kernelgrade)
  if(NOT TARGET grade)
    add_custom_target(grade)
  endif()
  add_dependencies(grade grade_${op})
endfunction()

# The source that defines the texts; its name is returned in <result>.
function(kernelgrade_write_texts op result)
  set(file ${PROJECT_BINARY_DIR}/texts/${op}.cpp)
  set(includes "")
  set(definitions "")
  foreach(text IN LISTS ARGN)
    get_filename_component(name ${text} NAME_WE)
    string(APPEND includes "#include \"ops/${op}/${name}.h\"\n")
    kernelgrade_embed(definitions ${name} ${PROJECT_SOURCE_DIR}/kernels/ops/${op}/${text})
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "@includes@\nnamespace kg::@op@ {\n\n@definitions@\n} // namespace kg::@op@\n" @ONLY)
  set(${result} ${file} PARENT_SCOPE)
endfunction()

# kernelgrade_op_test_program(<program> <library>...): an op's tests, linked with one build of its kernels.
function(kernelgrade_op_test_program program)
  add_executable(${program})
  target_link_libraries(${program} PRIVATE ${ARGN})
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON) # kernel names in messages
  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CUDA)
  else()
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# kernelgrade_list_operations(<file> <op>...): writes the source that lists a program's operations.
function(kernelgrade_list_operations file)
  set(declarations "")
  set(calls "")
  foreach(op IN LISTS ARGN)
    string(APPEND declarations "const Card& ${op}();\n")
    string(APPEND calls "      checked_operation(card::${op}()),\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/operations.cpp.in ${file} @ONLY)
endfunction()

# Adds the commands with every op added so far, and the target that blesses their measurements.
function(kernelgrade_finish)
  get_property(ops GLOBAL PROPERTY KERNELGRADE_OPS)
  kernelgrade_list_operations(${PROJECT_BINARY_DIR}/operations.cpp ${ops})
  list(TRANSFORM ops REPLACE "(.+)" "kernelgrade_\\1_card" OUTPUT_VARIABLE cards)
  add_library(kernelgrade_operations STATIC ${PROJECT_BINARY_DIR}/operations.cpp)
  target_link_libraries(kernelgrade_operations PUBLIC ${cards})
  kernelgrade_warnings(kernelgrade_operations)
  kernelgrade_know_code(kernelgrade_operations ${ops})
  foreach(program IN ITEMS kernelgrade kernelgrade-lab)
    if(TARGET ${program})
      target_link_libraries(${program} PRIVATE kernelgrade_operations)
    endif()
  endforeach()
  if(TARGET kernelgrade-cost)
    # Kernels first, including those that other ops use: the linker takes the first definition of an inline function, and that one must be
    # instrumented.
    set(used "")
    foreach(op IN LISTS ops)
      kernelgrade_used_by(${op} others)
      list(APPEND used ${others} ${op})
    endforeach()
    list(REMOVE_DUPLICATES used)
    foreach(op IN LISTS used)
      target_sources(kernelgrade-cost PRIVATE $<TARGET_OBJECTS:kernelgrade_${op}_checked>)
    endforeach()
    target_link_libraries(kernelgrade-cost PRIVATE kernelgrade_operations)
    kernelgrade_counted_flags(flags ${used})
    foreach(program IN ITEMS kernelgrade kernelgrade-lab kernelgrade-cost)
      target_compile_definitions(${program} PRIVATE KERNELGRADE_COUNTED_BY="g++ ${CMAKE_CXX_COMPILER_VERSION}","${flags}")
    endforeach()
  endif()
  add_custom_target(update-baselines
    COMMAND sh -c "exec \"$1\" bless --why \"$WHY\"" sh $<TARGET_FILE:kernelgrade>
    COMMENT "Measuring and blessing (WHY=... gives the reason)" USES_TERMINAL VERBATIM)
endfunction()

# kernelgrade_counted_flags(<result> <op>...): all compiler flags of these ops' counted kernels, except warnings and file name mappings.
function(kernelgrade_counted_flags result)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(all -std=c++${CMAKE_CXX_STANDARD} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} -fno-strict-aliasing) # the last: kernelgrade_host_sources
  foreach(op IN LISTS ARGN)
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS)
      get_target_property(own kernelgrade_${op}_checked ${property})
      if(own)
        list(APPEND all ${own})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES all)
  list(FILTER all EXCLUDE REGEX "(^|[:=])-W|-fmacro-prefix-map=")
  list(JOIN all " " all)
  string(REPLACE "$<" "<" all "${all}") # plain text, no longer a generator expression
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# kernelgrade_used_by(<op> <result>): the ops whose kernels it uses, directly and indirectly.
function(kernelgrade_used_by op result)
  set(all "")
  get_property(libraries GLOBAL PROPERTY KERNELGRADE_USED_BY_${op})
  foreach(library IN LISTS libraries)
    string(REPLACE kernelgrade_ "" other ${library})
    kernelgrade_used_by(${other} others)
    list(APPEND all ${others} ${other})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

# kernelgrade_unit_test(<name>): the GoogleTest program <name>_test as CTest test unit.<name>.
function(kernelgrade_unit_test name)
  add_test(NAME unit.${name} COMMAND ${name}_test)
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
