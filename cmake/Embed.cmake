# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_embed(<variable> <name> <file>...): C++ that defines `const std::string <name>` as the contents of the files, one after the
# other, appended to <variable>. A change of a file configures anew.
function(kernelgrade_embed variable name)
  set(text "const std::string ${name} = std::string()")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} contents)
    # Added, not joined: compilers must take literals of 64 KiB, and a file is shorter.
    string(APPEND text "\n    + R\"~~~~(${contents})~~~~\"")
  endforeach()
  set(${variable} "${${variable}}${text};\n" PARENT_SCOPE)
endfunction()
