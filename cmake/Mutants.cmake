# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_mutants(<op> CATEGORY <category> SOURCES <file>... [LIBRARIES <library>...])
#
# Adds the op's seeded bugs, which tests/ops/<op>/mutants.json lists. Copies of the kernels' sources hold all bugs, each guarded by a switch
# that is read at run time (tests/mutation/mutants/mutate.h). From these copies it builds
#   kernelgrade_<op>_mutants   the kernels, compiled for the checkers
#   <op>_mutants_test          the op's own tests on these kernels; KERNELGRADE_MUTANT=<name> selects the bug
#   mutants.<op>               CTest test, label mutants: a check finds every bug (tests/mutation/mutants/kill_matrix.cpp); the matrix of
#                              bugs and checks stays in results/mutants.<op>.json for `kernelgrade report`
# If nvcc compiles the kernels, and tests/ops/<op>/ptx_mutants.json lists bugs in its output (tests/mutation/mutants/ptx_mutants.h), also
#   mutants.ptx.<op>           CTest test, label nightly: the same program finds each of these bugs
#   unit.ptx_mutants.<op>      CTest test, label unit: the PTX contains the location of each of these bugs
# Configuration fails if the op has no list.

# The files that a list names, relative to kernels/, are returned in <files>.
function(kernelgrade_mutated_files op spec files)
  if(NOT EXISTS ${spec})
    message(FATAL_ERROR "kernelgrade_add_op(${op}): ${spec} is missing; tests/mutation/mutants/spec.h says how to write it")
  endif()
  file(READ ${spec} json)
  string(JSON count ERROR_VARIABLE error LENGTH "${json}")
  if(error)
    message(FATAL_ERROR "${spec}: ${error}")
  endif()
  math(EXPR last "${count} - 1")
  set(found "")
  foreach(i RANGE ${last})
    string(JSON file ERROR_VARIABLE error GET "${json}" ${i} file)
    if(error)
      math(EXPR number "${i} + 1")
      message(FATAL_ERROR "${spec}: object ${number} has no \"file\"")
    endif()
    list(APPEND found ${file})
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${files} ${found} PARENT_SCOPE)
endfunction()

function(kernelgrade_add_mutants op)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CATEGORY" "SOURCES;LIBRARIES")
  set(spec ${PROJECT_SOURCE_DIR}/tests/ops/${op}/mutants.json)
  set(kernels ${PROJECT_SOURCE_DIR}/kernels)
  set(out ${PROJECT_BINARY_DIR}/mutants/${op})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spec})
  kernelgrade_mutated_files(${op} ${spec} mutated)

  list(TRANSFORM mutated PREPEND ${kernels}/ OUTPUT_VARIABLE originals)
  list(TRANSFORM mutated PREPEND ${out}/ OUTPUT_VARIABLE copies)
  # The include path would still find a copy of a file that the list no longer names.
  file(GLOB_RECURSE stale ${out}/*.h ${out}/*.cu)
  list(REMOVE_ITEM stale ${copies})
  if(stale)
    file(REMOVE ${stale})
  endif()
  add_custom_command(OUTPUT ${copies} ${out}/names.cpp
    COMMAND mutate ${spec} ${kernels} ${out}
    DEPENDS mutate ${spec} ${originals}
    COMMENT "Mutating ${op}" VERBATIM)

  # Sources without a mutant compile unchanged; the include path finds the headers.
  set(sources "")
  foreach(source IN LISTS arg_SOURCES)
    if(ops/${op}/${source} IN_LIST mutated)
      list(APPEND sources ${out}/ops/${op}/${source})
    else()
      list(APPEND sources ${kernels}/ops/${op}/${source})
    endif()
  endforeach()
  add_library(kernelgrade_${op}_mutants STATIC ${out}/names.cpp ${copies})
  kernelgrade_device_sources(kernelgrade_${op}_mutants ${sources})
  target_include_directories(kernelgrade_${op}_mutants BEFORE PRIVATE ${out} ${PROJECT_SOURCE_DIR})
  target_link_libraries(kernelgrade_${op}_mutants PUBLIC kernelgrade::runtime ${arg_LIBRARIES})
  kernelgrade_checked_options(kernelgrade_${op}_mutants)
  target_compile_options(kernelgrade_${op}_mutants PRIVATE -w) # the bugs cause warnings

  if(TARGET kernelgrade::checkers)
    set(checkers kernelgrade::checkers)
  endif()
  kernelgrade_op_test_program(${op}_mutants_test
    kernelgrade_${op}_mutants kernelgrade_${op}_tests kernelgrade_mutants_main ${checkers})

  # Kernels first: the linker takes the first definition of an inline function that the tests also contain, and that one must hold the bug.
  target_sources(${op}_mutants_test PRIVATE $<TARGET_OBJECTS:kernelgrade_${op}_mutants>)

  # A test builds them, not `all`: together they take a quarter of the build time of everything else.
  set_target_properties(kernelgrade_${op}_mutants ${op}_mutants_test PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(mutants ${op}_mutants_test)
  add_test(NAME mutants.${op}.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${op}_mutants_test)
  set_tests_properties(mutants.${op}.build PROPERTIES LABELS "mutants;op_${op}" FIXTURES_SETUP mutants_${op} RUN_SERIAL ON TIMEOUT 1800)
  add_test(NAME mutants.${op} COMMAND kill_matrix --op ${op} --spec ${spec} --kernels ${kernels}
    --program $<TARGET_FILE:${op}_mutants_test> --results ${PROJECT_BINARY_DIR}/results/mutants.${op}.json)
  set_tests_properties(mutants.${op} PROPERTIES LABELS "mutants;cat_${arg_CATEGORY};op_${op}" TIMEOUT 900
    FIXTURES_REQUIRED mutants_${op})

  set(ptx ${PROJECT_SOURCE_DIR}/tests/ops/${op}/ptx_mutants.json)
  if(EXISTS ${ptx} AND KERNELGRADE_NVCC)
    list(GET KERNELGRADE_RESOURCE_ARCHS -1 arch)
    kernelgrade_resource_folder(${arch} folder)
    add_test(NAME mutants.ptx.${op} COMMAND kill_matrix --op ptx.${op} --spec ${ptx} --ptx ${folder}
      --program $<TARGET_FILE:${op}_mutants_test> --results ${PROJECT_BINARY_DIR}/results/mutants.ptx.${op}.json)
    set_tests_properties(mutants.ptx.${op} PROPERTIES LABELS "nightly;cat_${arg_CATEGORY};op_${op}" TIMEOUT 1800
      FIXTURES_REQUIRED mutants_${op})
    # The pre-merge test notices when nvcc renames a kernel or emits other instructions.
    add_test(NAME unit.ptx_mutants.${op} COMMAND kill_matrix --op ptx.${op} --spec ${ptx} --ptx ${folder} --places)
    set_tests_properties(unit.ptx_mutants.${op} PROPERTIES LABELS "unit;cat_${arg_CATEGORY};op_${op}" TIMEOUT 60)
  endif()
endfunction()
