# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# CTest's list of GPUs (cmake/Gpus.cmake) on machines with zero, one and two GPUs; CTest assigns the listed slots, eight tests at a time.
# FOLDER is private to this test.
cmake_minimum_required(VERSION 3.25)
include(${SOURCE}/cmake/Gpus.cmake)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# machine(<line of nvidia-smi>...): writes the list for a machine whose nvidia-smi prints these lines.
function(machine)
  list(JOIN ARGN "\\n" lines)
  file(WRITE ${FOLDER}/nvidia-smi "#!/bin/sh\nprintf '${lines}\\n'\n")
  file(CHMOD ${FOLDER}/nvidia-smi PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(KERNELGRADE_NVIDIA_SMI ${FOLDER}/nvidia-smi)
  kernelgrade_resource_spec(${FOLDER}/gpus.json)
endfunction()

machine(0 1)
file(READ ${FOLDER}/gpus.json json)
string(JSON second GET "${json}" local 0 gpus 1 id)
if(NOT second STREQUAL "1")
  message(SEND_ERROR "the second GPU is \"${second}\" in ${json}")
endif()

foreach(gpus IN ITEMS 0 "")
  machine(${gpus})
  file(READ ${FOLDER}/gpus.json json)
  string(JSON slots GET "${json}" local 0 gpus 0 slots)
  string(JSON id GET "${json}" local 0 gpus 0 id)
  string(JSON count LENGTH "${json}" local 0 gpus)
  if(NOT "${slots}.${id}.${count}" STREQUAL "8.0.1")
    message(SEND_ERROR "with the GPUs \"${gpus}\" the list is ${json}")
  endif()
endforeach()

# Each test records its start and end, so the check needs no clock.
machine(0)
set(tests "")
foreach(i RANGE 1 12)
  string(APPEND tests "add_test(given${i} sh -c \"echo $CTEST_RESOURCE_GROUP_0_GPUS; echo + >>log; sleep 0.5; echo - >>log\")\n"
    "set_tests_properties(given${i} PROPERTIES RESOURCE_GROUPS \"gpus:1\" WORKING_DIRECTORY ${FOLDER})\n")
endforeach()
file(WRITE ${FOLDER}/CTestTestfile.cmake "${tests}")
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} --resource-spec-file ${FOLDER}/gpus.json -j 20 -V OUTPUT_VARIABLE said)
if(NOT said MATCHES "id:0,slots:1")
  message(SEND_ERROR "CTest gave out no GPU:\n${said}")
endif()
file(STRINGS ${FOLDER}/log log)
set(running 0)
set(most 0)
foreach(mark IN LISTS log)
  math(EXPR running "${running} ${mark} 1")
  if(running GREATER most)
    set(most ${running})
  endif()
endforeach()
if(most LESS 2 OR most GREATER 8)
  message(SEND_ERROR "${most} tests ran at a time where 8 slots are given out:\n${said}")
endif()
