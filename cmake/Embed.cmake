# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_embed(<variable> <name> <file>...): appends C++ code to <variable> that defines `const std::string <name>` as the concatenated
# contents of the files. A changed file triggers a new configuration.
function(kernelgrade_embed variable name)
  set(text "const std::string ${name} = std::string()")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} contents)
    # Concatenated at run time, not as adjacent literals: compilers need only support literals of 64 KiB, and each file is shorter.
    string(APPEND text "\n    + R\"~~~~(${contents})~~~~\"")
  endforeach()
  set(${variable} "${${variable}}${text};\n" PARENT_SCOPE)
endfunction()
