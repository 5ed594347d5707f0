# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The script compile-cuda, with which `kernelgrade check` and `try` compile, and the libraries that the programs of `check` link.

# kernelgrade_add_check(): generates the script for the build tree and for the installation (Install.cmake), and adds the targets
#   check         kernelgrade-check, and the libraries of its programs, with and without the checkers
#   check_costs   the further libraries that count costs
function(kernelgrade_add_check)
  if(NOT TARGET kernelgrade_checkers) # on a GPU, or with a compiler other than g++
    return()
  endif()
  set(checkers kernelgrade_checkers kernelgrade_symbols)
  set(counts kernelgrade_counts_file)
  set(counters kernelgrade_counters kernelgrade_symbols)
  set(libraries kernelgrade_foreign kernelgrade_runtime kernelgrade_jit_build)
  set(system TBB::tbb fmt::fmt)
  set(blas "")
  if(TARGET kernelgrade_cublas)
    list(PREPEND libraries kernelgrade_cublas)
    set(blas " '${OpenBLASLib_LIBRARY}'")
  endif()
  if(KERNELGRADE_FIBER_BOOST OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND system Boost::context)
  endif()
  add_custom_target(check DEPENDS kernelgrade-check kernelgrade-guard kernelgrade_rewrite ${checkers} ${libraries})
  add_custom_target(check_costs DEPENDS check ${counts} ${counters})

  set(compiler ${CMAKE_CXX_COMPILER})
  string(REGEX MATCH "^[0-9]+" compiler_least ${CMAKE_CXX_COMPILER_VERSION}) # compiled programs need at least this compiler's libstdc++
  list(JOIN KERNELGRADE_HOST_ARCH " " arch)
  list(JOIN KERNELGRADE_KERNEL_FLAGS " " flags_plain)
  list(JOIN KERNELGRADE_CHECKED_FLAGS " " flags_checked)
  list(JOIN KERNELGRADE_FATBIN_FLAGS " " flags_fatbin)
  list(JOIN KERNELGRADE_NVCC_FLAGS " " flags_nvcc)
  string(APPEND flags_plain " ${arch}")
  # A hook that ends a kernel must be called, not jumped to: the return address identifies the source line.
  string(APPEND flags_checked " ${arch} -DKG_CHECKED=1 -fno-optimize-sibling-calls")
  set(nvcc "")
  if(KERNELGRADE_NVCC)
    set(nvcc ${KERNELGRADE_NVCC})
  endif()
  set(cccl "")
  if(KERNELGRADE_CCCL AND NOT KERNELGRADE_CCCL STREQUAL "/usr/include")
    set(cccl "-isystem '${KERNELGRADE_CCCL}'")
  endif()
  set(files "")
  foreach(library IN LISTS system)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND files "'$<TARGET_FILE:${library}>'")
    endif()
  endforeach()
  list(JOIN files " " system)
  string(APPEND system "${blas} '${KERNELGRADE_BACKTRACE}'")
  list(TRANSFORM CMAKE_DL_LIBS PREPEND " -l" OUTPUT_VARIABLE dl)
  string(APPEND system ${dl})

  file(RELATIVE_PATH headers ${PROJECT_BINARY_DIR}/perf ${PROJECT_SOURCE_DIR}/kernels)
  kernelgrade_compile_script(${PROJECT_BINARY_DIR}/perf/compile-cuda ../kernels/cuda/source/kernelgrade-rewrite ${headers}
    "'$<TARGET_FILE:\\1>'")
  file(RELATIVE_PATH headers ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_PREFIX}/include/kernelgrade)
  file(RELATIVE_PATH folder ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  if(KERNELGRADE_BUNDLE)
    set(compiler g++)
    set(cccl "")
    set(system "\"$here/${folder}/kernelgrade\"/lib{tbb,fmt,openblas}.so.* \"$here/${folder}/kernelgrade/libbacktrace.a\" \\
  -Wl,-rpath,\"$here/${folder}/kernelgrade\"${dl}")
  endif()
  kernelgrade_compile_script(${PROJECT_BINARY_DIR}/installed/compile-cuda kernelgrade-rewrite ${headers}
    "\"$here/${folder}/$<TARGET_FILE_NAME:\\1>\"")
endfunction()

# Part of kernelgrade_add_check, uses its variables. <pattern>: the path of a library, as a word of the shell.
function(kernelgrade_compile_script script rewrite headers pattern)
  foreach(list IN ITEMS checkers counts counters libraries)
    list(TRANSFORM ${list} REPLACE "(.+)" "${pattern}")
    list(JOIN ${list} " " ${list})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/compile_cuda.sh.in ${script}.in @ONLY)
  file(GENERATE OUTPUT ${script} INPUT ${script}.in
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()
