# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_know_code(<library> <op>...): lets a program that links the library report which machine code its ops run
# (perf/code/identity/row_identity.h). On cuda the program reads itself; on host it links the current hashes of the ops' libraries.
function(kernelgrade_know_code library)
  target_link_libraries(${library} PRIVATE kernelgrade_identity)
  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    target_sources(${library} PRIVATE ${PROJECT_SOURCE_DIR}/perf/code/identity/program_cuda.cpp)
    return()
  endif()
  set(hashes ${PROJECT_BINARY_DIR}/code_hashes.cpp)
  set(pairs "")
  foreach(op IN LISTS ARGN)
    list(APPEND pairs ${op}=$<TARGET_FILE:kernelgrade_${op}>)
    get_property(used GLOBAL PROPERTY KERNELGRADE_USED_BY_${op})
    foreach(library IN LISTS used)
      list(APPEND pairs ${op}=$<TARGET_FILE:${library}>)
    endforeach()
  endforeach()
  list(TRANSFORM ARGN PREPEND kernelgrade_ OUTPUT_VARIABLE libraries)
  add_custom_command(OUTPUT ${hashes}
    COMMAND kernelgrade_hash_libraries ${hashes} $<TARGET_FILE:kernelgrade_runtime> ${pairs}
    DEPENDS kernelgrade_hash_libraries kernelgrade_runtime ${libraries}
    COMMENT "Hashing the machine code of the ops" VERBATIM)
  target_sources(${library} PRIVATE ${PROJECT_SOURCE_DIR}/perf/code/identity/program_host.cpp ${hashes})
endfunction()
