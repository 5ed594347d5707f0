# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_planted_line(<spec> <source> <text> <result>): the line number of the text, which must occur once in the source.
function(kernelgrade_planted_line spec source text result)
  file(READ ${source} contents)
  string(FIND "${contents}" "${text}" place)
  string(FIND "${contents}" "${text}" last REVERSE)
  if(place EQUAL -1 OR NOT place EQUAL last)
    message(FATAL_ERROR "${spec}: this must occur once in ${source}: ${text}")
  endif()
  string(SUBSTRING "${contents}" 0 ${place} before)
  string(REGEX REPLACE "[^\n]" "" before "${before}")
  string(LENGTH "${before}" line)
  math(EXPR line "${line} + 1")
  set(${result} ${line} PARENT_SCOPE)
endfunction()
