# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_embed(<variable> <name> <file>...): C++ that defines `const std::string <name>` as the contents of the files, one after the
# other, appended to <variable>. A change of a file configures anew.
function(kernelgrade_embed variable name)
  set(text "const std::string ${name} =")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} contents)
    # Compilers must take literals of 64 KiB, joined; a file is far shorter.
    string(APPEND text "\n    R\"~~~~(${contents})~~~~\"")
  endforeach()
  set(${variable} "${${variable}}${text};\n" PARENT_SCOPE)
endfunction()
