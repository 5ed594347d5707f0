# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs BUILD into FOLDER, and builds and tests the project at SOURCE against that: as it is, when all must pass, and, where the
# checkers and counters are (CHECKED), with each planted bug, when the checked test or that of costs must fail with the report of that
# kind.
cmake_minimum_required(VERSION 3.25)

function(run name)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  message("=== ${name}\n${output}")
  set(output "${output}" PARENT_SCOPE)
  set(code ${code} PARENT_SCOPE)
endfunction()

# The project with a planted bug ("": none), up to and with its tests, or, with names of programs, of those alone.
function(test_project plant)
  set(programs all)
  set(only "")
  if(ARGN)
    set(programs ${ARGN})
    list(JOIN ARGN "|" names)
    set(only -R "^(${names})$")
  endif()
  run("configure, PLANT=\"${plant}\"" ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -G ${GENERATOR} -DPLANT=${plant}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${FOLDER}/installed -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=${FLAGS})
  if(code EQUAL 0)
    run(build ${CMAKE_COMMAND} --build ${FOLDER}/build --target ${programs})
  endif()
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "the example does not build")
  endif()
  run(test ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure --no-tests=error ${only})
  set(output "${output}" PARENT_SCOPE)
  set(code ${code} PARENT_SCOPE)
endfunction()

# The last output must match.
function(expect_match pattern why)
  if(NOT output MATCHES "${pattern}")
    message(SEND_ERROR "${why}: the output does not match ${pattern}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(install ${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/installed)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the install failed; is everything built?")
endif()

test_project("")
if(NOT code EQUAL 0)
  message(SEND_ERROR "the example's own tests fail")
endif()
expect_match(" softmax \\.+ +Passed" "the plain test")
if(NOT CHECKED)
  return()
endif()
expect_match(" softmax[.]checked \\.+ +Passed" "the checked test")
expect_match(" scale[.]checked \\.+ +Passed" "the checked test of the kernel with its test in one file")
expect_match(" softmax[.]cost \\.+ +Passed" "the test of costs")

foreach(plant IN ITEMS race bounds)
  test_project(${plant} softmax softmax.checked)
  expect_match(" softmax[.]checked \\.+[*]+Failed" "with PLANT=${plant} the checked test must fail")
  set(kind "${plant}")
  if(plant STREQUAL "bounds")
    set(kind "out-of-bounds")
    expect_match(" softmax \\.+ +Passed" "writing into a guard changes no result")
  endif()
  expect_match("\\[${kind}\\][^\n]*softmax[.]cu:[0-9]+" "with PLANT=${plant} the report names kind, file and line")
endforeach()

# Slower kernels with the right results: only the costs are up.
function(expect_cost plant metric hint)
  test_project(${plant} softmax.cost)
  expect_match(" softmax[.]cost \\.+[*]+Failed" "with PLANT=${plant} the test of costs must fail")
  expect_match("${metric} [0-9]+ -> [0-9.]+, most of it at [^ ]*softmax[.]cu:[0-9]+: ${hint}"
    "with PLANT=${plant} the report names metric, values, line and hint")
endfunction()
expect_cost(uncoalesced sectors_per_request "uncoalesced read")
expect_cost(conflict bank_conflict_degree "[^\n]*bank conflict")
