# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# KERNELGRADE_BUNDLE: an installation for machines with g++ but without the libraries we use; the wheel is one (pyproject.toml). Shared
# libraries that the programs need are installed in <libdir>/kernelgrade, where the programs and the output of compile-cuda look for them.
# So is libbacktrace, which only some compilers ship.
option(KERNELGRADE_BUNDLE "Install the libraries of packages, too, for machines without them" OFF)
if(KERNELGRADE_BUNDLE)
  # Messages name sources as kernelgrade/<path>, because a compiler cache may have compiled them in another checkout. cuda/source/errors.cpp
  # removes the prefix before /kernels/, so a user program's own kernels/ folder stays in its messages.
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=kernelgrade/)
endif()

# kernelgrade_bundle(PROGRAMS <program>... LIBRARIES <library>...): installs the shared libraries that they need, except those of g++, glibc
# and the emulator. The RPATH of each <library> is set by the library itself.
function(kernelgrade_bundle)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "PROGRAMS;LIBRARIES")
  find_program(KERNELGRADE_PATCHELF patchelf REQUIRED)
  set(folder ${CMAKE_INSTALL_LIBDIR}/kernelgrade)
  set_target_properties(${arg_PROGRAMS} PROPERTIES INSTALL_RPATH "\$ORIGIN/../${folder}" INSTALL_RPATH_USE_LINK_PATH OFF)
  list(TRANSFORM arg_PROGRAMS REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE programs)
  list(TRANSFORM arg_LIBRARIES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE needing)
  install(CODE "
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} LIBRARIES ${needing} RESOLVED_DEPENDENCIES_VAR libraries
      PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+]|cuda)[.]so\")
    foreach(library IN LISTS libraries)
      cmake_path(GET library FILENAME name) # the one by which it is asked for; a wheel has no links
      file(REAL_PATH \${library} real)
      file(MAKE_DIRECTORY \${folder})
      file(COPY_FILE \${real} \${folder}/\${name})
      execute_process(COMMAND ${KERNELGRADE_PATCHELF} --set-rpath \\\$ORIGIN \${folder}/\${name} COMMAND_ERROR_IS_FATAL ANY)
      message(STATUS \"Bundled: \${library}\")
    endforeach()")
  install(FILES ${KERNELGRADE_BACKTRACE} DESTINATION ${folder})
endfunction()
