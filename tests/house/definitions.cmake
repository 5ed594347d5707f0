# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# No two headers of tests/ops in SOURCE define the same inline function in kg::card: one program links all cards, and one definition would
# silently replace the other.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers ${SOURCE}/tests/ops/*.h)
if(NOT headers)
  message(FATAL_ERROR "${SOURCE}/tests/ops holds no header")
endif()
set(all "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  if(NOT text MATCHES "\nnamespace kg::card {")
    continue()
  endif()
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "\ninline [^\n(]*[ *&][a-z_0-9]+\\([^{]*\\)( const)? {" found "${text}")
  set(signatures "")
  foreach(each IN LISTS found)
    string(REGEX REPLACE "^.*[ *&]([a-z_0-9]+\\([^{]*\\)).*$" "\\1" signature "${each}")
    string(REGEX REPLACE "[\n ]+" " " signature "${signature}")
    string(REGEX REPLACE " [a-z_0-9]+( = [^,)]*)?([,)])" "\\2" signature "${signature}") # names and default values of parameters
    list(APPEND signatures "${signature}")
  endforeach()
  list(REMOVE_DUPLICATES signatures)
  foreach(signature IN LISTS signatures)
    if(signature IN_LIST all)
      message(SEND_ERROR "${header} defines kg::card::${signature}, as another header does: rename one, or give it a namespace of its own")
    endif()
    list(APPEND all "${signature}")
  endforeach()
endforeach()
