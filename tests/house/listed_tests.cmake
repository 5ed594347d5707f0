# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# listed_tests(<build>): the tests of <build> that CTest (CTEST) lists: `listed` has their names; `program_<name>` and `labels_<name>`
# describe each. Parses the human-readable output: string(JSON) would parse the whole list again for each member.
function(listed_tests build)
  execute_process(COMMAND ${CTEST} --test-dir ${build} -N -V OUTPUT_VARIABLE text ERROR_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE " \"[^\n]*" "" text "${text}") # arguments
  string(REGEX REPLACE "[][;]" "," text "${text}") # characters that would split a list
  string(REPLACE "\n" ";" lines "${text}")
  set(listed "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[0-9]+: Test command:(.*)")
      string(STRIP "${CMAKE_MATCH_1}" program)
    elseif(line MATCHES "^Labels: (.*)")
      string(REPLACE " " ";" labels "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^ +Test +#[0-9]+: ([^ ]+)")
      set(name ${CMAKE_MATCH_1})
      list(APPEND listed ${name})
      set(program_${name} "${program}" PARENT_SCOPE)
      set(labels_${name} "${labels}" PARENT_SCOPE)
      set(program "")
      set(labels "")
    elseif(line MATCHES "^Total Tests: ([0-9]+)")
      set(total ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(LENGTH listed count)
  if(count EQUAL 0 OR NOT count EQUAL total)
    message(FATAL_ERROR "${build}: CTest counts ${total} tests, of which ${count} are listed; are there any?")
  endif()
  set(listed ${listed} PARENT_SCOPE)
endfunction()
