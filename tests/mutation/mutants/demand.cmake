# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The configuration refuses an op without a list of mutants, or with an invalid list, and prints the reason. FOLDER has the lists to try;
# with SPEC the script is one such attempt.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/Mutants.cmake)

if(DEFINED SPEC)
  kernelgrade_mutated_files(op ${SPEC} files)
  message("files: ${files}")
  return()
endif()

function(expect spec text)
  execute_process(COMMAND ${CMAKE_COMMAND} -DSPEC=${FOLDER}/${spec} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(SEND_ERROR "${spec}: \"${text}\" was expected, not: ${output}")
  endif()
  if(text MATCHES "^files" AND NOT code EQUAL 0 OR NOT text MATCHES "^files" AND code EQUAL 0)
    message(SEND_ERROR "${spec}: the configuration ended with ${code}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/two.json "[{\"file\": \"op/op.cu\"}, {\"file\": \"op/other.h\", \"mutants\": []}, {\"file\": \"op/op.cu\"}]")
file(WRITE ${FOLDER}/nameless.json "[{\"file\": \"op/op.cu\"}, {}]")
file(WRITE ${FOLDER}/broken.json "[{\"file\": \"op/op.cu\"}")

expect(none.json "none.json is missing; ")
expect(nameless.json "nameless.json: object 2 has no \"file\"")
expect(broken.json "broken.json: ")
expect(two.json "files: op/op.cu;op/other.h")
