# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_planted(): slower kernels with correct results, which the cost and resource gates must catch.
# tests/mutation/planted/planted.json lists them:
#   name, op, why      planted.<name> is the CTest test
#   file               the source or header, relative to kernels/, in which "planted" replaces the single occurrence of "original"
#   gate               options that select the rows for `gate --cost`; or
#   arch               the architecture for which the op is compiled, for `resources`
#   metric, at, says, ...   text that the gate's message must contain (tests/mutation/planted/gate.cmake)
# Each entry is a program of its own, kernelgrade-cost with only the planted op. The tests planted.<name>.build build them, not `all`; label
# nightly. planted.list, label unit, finds entries that no longer match the kernels. Host backend with g++, after the last op.

# The program and, for `resources`, the compiled kernels of entry `index`, for target planted_<name>.
function(kernelgrade_add_planted_program index name op file arch)
  set(spec ${PROJECT_SOURCE_DIR}/tests/mutation/planted/planted.json)
  set(kernels ${PROJECT_SOURCE_DIR}/kernels)
  set(out ${PROJECT_BINARY_DIR}/planted/${name})
  add_custom_command(OUTPUT ${out}/${file}
    COMMAND ${CMAKE_COMMAND} -DSPEC=${spec} -DINDEX=${index} -DKERNELS=${kernels} -DFILE=${file} -DOUT=${out}
            -P ${PROJECT_SOURCE_DIR}/tests/mutation/planted/plant.cmake
    DEPENDS ${spec} ${kernels}/${file} ${PROJECT_SOURCE_DIR}/tests/mutation/planted/plant.cmake ${PROJECT_SOURCE_DIR}/tests/mutation/planted/line.cmake
    COMMENT "Planting ${name}" VERBATIM)
  get_target_property(sources kernelgrade_${op}_checked SOURCES)
  list(TRANSFORM sources REPLACE "^${kernels}/${file}$" "${out}/${file}")

  set(program planted_${name})
  kernelgrade_cost_program(${program})
  set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON ENABLE_EXPORTS ON)
  kernelgrade_list_operations(${out}/operations.cpp ${op})
  target_sources(${program} PRIVATE ${out}/operations.cpp)
  # Kernels first, as in kernelgrade_finish.
  add_library(${program}_kernels OBJECT EXCLUDE_FROM_ALL ${out}/${file})
  kernelgrade_device_sources(${program}_kernels ${sources})
  target_include_directories(${program}_kernels BEFORE PRIVATE ${out}) # for a planted header
  target_link_libraries(${program}_kernels PUBLIC kernelgrade::runtime)
  kernelgrade_checked_options(${program}_kernels)
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:${program}_kernels>)
  target_link_libraries(${program} PRIVATE kernelgrade_${op}_card)

  if(arch)
    kernelgrade_resource_folder(${arch} folder)
    cmake_path(GET folder FILENAME folder)
    kernelgrade_compile_fatbins(${arch} ${out}/resources/${folder}/${op} fatbins
      INCLUDES ${out} ${kernels} SOURCES ${sources} DEPENDS ${out}/${file})
    add_custom_target(${program}_fatbins DEPENDS ${fatbins})
    add_dependencies(${program} ${program}_fatbins)
  endif()
endfunction()

set(KERNELGRADE_METRICS_OF_MACHINE_CODE bytes_in_flight issue_slots calls divisions loop_calls) # perf/code/sass/columns.h

function(kernelgrade_add_planted)
  if(NOT TARGET kernelgrade-cost)
    return()
  endif()
  set(spec ${PROJECT_SOURCE_DIR}/tests/mutation/planted/planted.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spec})
  file(READ ${spec} list)
  string(JSON count LENGTH "${list}")
  math(EXPR last "${count} - 1")
  add_test(NAME planted.list COMMAND ${CMAKE_COMMAND} -DSPEC=${spec} -DKERNELS=${PROJECT_SOURCE_DIR}/kernels
    -P ${PROJECT_SOURCE_DIR}/tests/mutation/planted/check.cmake)
  set_tests_properties(planted.list PROPERTIES LABELS unit TIMEOUT 60)
  add_custom_target(planted)
  foreach(index RANGE ${last})
    foreach(key IN ITEMS name op file)
      string(JSON ${key} GET "${list}" ${index} ${key})
    endforeach()
    if(NOT TARGET kernelgrade_${op}_card OR NOT TARGET kernelgrade_${op}_checked) # not in this build
      message(STATUS "planted.${name} is left out: no op ${op}")
      continue()
    endif()
    string(JSON arch ERROR_VARIABLE none GET "${list}" ${index} arch)
    if(none)
      set(arch "")
    elseif(NOT KERNELGRADE_NVCC)
      message(STATUS "planted.${name} is left out: nvcc not found")
      continue()
    endif()
    kernelgrade_add_planted_program(${index} ${name} ${op} ${file} "${arch}")
    add_dependencies(planted planted_${name})
    add_test(NAME planted.${name}.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target planted_${name})
    set_tests_properties(planted.${name}.build PROPERTIES
      LABELS "nightly;op_${op}" FIXTURES_SETUP planted_${name} RUN_SERIAL ON TIMEOUT 1800)
    add_test(NAME planted.${name} COMMAND ${CMAKE_COMMAND} -DSPEC=${spec} -DINDEX=${index}
      -DPROGRAM=$<TARGET_FILE:planted_${name}> -DOUT=${PROJECT_BINARY_DIR}/planted/${name} -DKERNELS=${PROJECT_SOURCE_DIR}/kernels
      -P ${PROJECT_SOURCE_DIR}/tests/mutation/planted/gate.cmake)
    set_tests_properties(planted.${name} PROPERTIES LABELS "nightly;op_${op}" FIXTURES_REQUIRED planted_${name} TIMEOUT 300)
    string(JSON metric GET "${list}" ${index} metric)
    if(metric IN_LIST KERNELGRADE_METRICS_OF_MACHINE_CODE)
      set_tests_properties(planted.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: bytes_in_flight[^\n]*") # no nvdisasm
    endif()
  endforeach()
endfunction()
