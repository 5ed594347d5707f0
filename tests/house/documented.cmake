# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the code names, the reference in docs of SOURCE explains: every finding of the emulator, and none that there is not, every verdict
# and state of a test, every metric that is gated, and every conformance test.
cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE}/docs/reference/diagnostics.md page)

# names(OUT FILE REGEX): the first group of each match in FILE; at least one.
function(names out file regex)
  file(READ ${SOURCE}/${file} text)
  string(REGEX MATCHALL "${regex}" found "${text}")
  if(NOT found)
    message(FATAL_ERROR "${file} has nothing that looks like ${regex}")
  endif()
  set(all "")
  foreach(one IN LISTS found)
    string(REGEX REPLACE "${regex}" "\\1" one "${one}")
    list(APPEND all "${one}")
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

names(faults kernels/runtime/host/check/findings.cpp "case Fault::[a-z_]+: return \"([a-z-]+)\"")
names(rules perf/cli/check/findings.cpp "{\"[a-z ]+\", +\"([a-z-]+)\"}")
set(findings ${faults} ${rules} fault leak)
list(REMOVE_DUPLICATES findings)
foreach(name IN LISTS findings)
  if(NOT page MATCHES "\n### ${name}\n")
    message(SEND_ERROR "docs/reference/diagnostics.md has no entry \"### ${name}\", which the emulator prints")
  endif()
endforeach()
string(REGEX MATCHALL "\n### [a-z-]+" entries "${page}")
foreach(entry IN LISTS entries)
  string(REGEX REPLACE "\n### " "" entry "${entry}")
  if(NOT entry IN_LIST findings)
    message(SEND_ERROR "docs/reference/diagnostics.md has an entry for ${entry}, which nothing prints")
  endif()
endforeach()

names(verdicts perf/judge/gate.cpp "case Verdict::[a-z]+: return \"([a-z]+)\"")
names(states perf/report/ctest_run.cpp "{TestState::[a-z_]+, \"([a-z ]+)\"}")
foreach(name IN LISTS verdicts states)
  if(NOT page MATCHES "\n\\| [^|]*`${name}`")
    message(SEND_ERROR "docs/reference/diagnostics.md has no row for `${name}`")
  endif()
endforeach()

# explained(PAGE NAME...): PAGE has each NAME in backticks, with others beside it or a mark behind it.
function(explained file)
  file(READ ${SOURCE}/${file} page)
  foreach(name IN LISTS ARGN)
    if(NOT page MATCHES "`${name}`")
      message(SEND_ERROR "${file} does not explain `${name}`")
    endif()
  endforeach()
endfunction()

file(STRINGS ${SOURCE}/baselines/simt/gemm.csv metrics REGEX "^schema,case,variant,") # an operation with all of them
string(REGEX REPLACE "^schema,case,variant,(.*),why$" "\\1" metrics "${metrics}")
string(REPLACE "," ";" metrics "${metrics}")
list(FILTER metrics EXCLUDE REGEX "_minimum$")
names(columns perf/judge/exact_table.cpp "{\"([a-z_]+)\", Better::[a-z]+")
list(REMOVE_ITEM columns value minimum)
explained(docs/reference/metrics.md ${metrics} ${columns})
names(tests tests/contract/contract.cpp "contract\\(\"([A-Za-z0-9]+)\"")
explained(docs/explanation/correctness.md ${tests})
