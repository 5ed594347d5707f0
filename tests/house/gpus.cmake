# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The list of GPUs for CTest (cmake/Gpus.cmake), on machines with none, one and two; CTest gives out what it lists. FOLDER is this
# test's own.
cmake_minimum_required(VERSION 3.25)
include(${SOURCE}/cmake/Gpus.cmake)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# machine(<line of nvidia-smi>...): writes the list for a machine whose nvidia-smi says that.
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

file(WRITE ${FOLDER}/CTestTestfile.cmake
  "add_test(given \"${CMAKE_COMMAND}\" -E environment)\nset_tests_properties(given PROPERTIES RESOURCE_GROUPS \"gpus:1\")\n")
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} --resource-spec-file ${FOLDER}/gpus.json -V OUTPUT_VARIABLE said)
if(NOT said MATCHES "CTEST_RESOURCE_GROUP_0_GPUS=id:[01],slots:1")
  message(SEND_ERROR "CTest gave out no GPU:\n${said}")
endif()

foreach(few IN ITEMS 0 "")
  machine(${few})
  if(EXISTS ${FOLDER}/gpus.json)
    message(SEND_ERROR "with \"${few}\" there is nothing to give out, but there is a list")
  endif()
endforeach()
