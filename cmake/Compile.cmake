# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compiler options of sources. Used by this tree and, once installed, by other projects (find_package(Kernelgrade)).

# kernelgrade_device_sources(<target> <file>...): adds .cu files to a target. nvcc compiles them on cuda; on host they compile as C++.
function(kernelgrade_device_sources target)
  if(KERNELGRADE_BACKEND STREQUAL "host")
    kernelgrade_host_sources(${target} ${ARGN})
  else()
    target_sources(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# kernelgrade_host_sources(<target> <file>...): adds .cu files without kernels, which compile as C++ on both backends. nvcc would take
# several times as long, since it parses a file once for the host and once for each architecture.
function(kernelgrade_host_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  # The compiler decides by the file extension unless -x names the language. CUDA code reads floats as int4 and similar types.
  set(options -x c++ -fno-strict-aliasing)
  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    list(APPEND options -include runtime/cuda/device_names.h) # nvcc includes its own names in the same way
  endif()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${options}")
endfunction()

# A compiler newer than those in CI may emit new warnings, which must not break a user's build. CI sets the variable CI.
set(error_on_warnings OFF)
if(DEFINED ENV{CI})
  set(error_on_warnings ON)
endif()
option(KERNELGRADE_WERROR "Warnings are errors; by default where CI builds" ${error_on_warnings})

# kernelgrade_warnings(<target>...): enables the warnings that KERNELGRADE_WERROR can turn into errors.
function(kernelgrade_warnings)
  set(host_flags -Wall -Wextra -Wpedantic)
  set(cuda_flags -Xcompiler=-Wall,-Wextra)
  if(KERNELGRADE_WERROR)
    list(APPEND host_flags -Werror)
    list(APPEND cuda_flags -Werror=all-warnings -Xcompiler=-Werror)
  endif()
  # g++ 12 warns of impossible overlaps inside std::string's operator+ (GCC bug 105651, fixed in 13).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND host_flags -Wno-restrict)
  endif()
  # Loops are unrolled for GPUs; clang++ may fail to unroll some of them for the CPU.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND host_flags -Wno-pass-failed)
  endif()
  foreach(target IN LISTS ARGN)
    # nvcc's own generated host code is not pedantic C++.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:${host_flags}>
      $<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags}>)
  endforeach()
endfunction()

# kernelgrade_relative_file_names(<target>): names source files relative to the project's root in messages and therefore in the machine
# code, which is then identical wherever the project is checked out. Ninja names sources relative to the build folder.
function(kernelgrade_relative_file_names target)
  file(RELATIVE_PATH root ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR}) # "../../" for a parent folder, otherwise "../x"
  string(REGEX REPLACE "/$" "" root ${root})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${root}/=>)
endfunction()

# kernelgrade_includes_sources(<target>): for targets that include sources; g++ warns about internal linkage in included files.
function(kernelgrade_includes_sources target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# kernelgrade_compile_together(<target> [EXCEPT <source>...]): merges the target's C++ sources so far into batches of up to 40, because
# shared headers and templates dominate compile time (four batches of eight: 25 s of CPU; one of 32: 14 s and 1 GB). Sources with their own
# options stay separate. CMake's UNITY_BUILD is not used: its batches hold absolute paths, so the compiler cache would miss in other
# checkouts. Only for g++: the clang++ build tells clang-tidy how each file is compiled.
function(kernelgrade_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(together "")
  set(alone "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE file)
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} TARGET_DIRECTORY ${target} COMPILE_DEFINITIONS)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} built)
    if(file MATCHES "[.]cpp$" AND NOT options AND NOT definitions AND NOT built AND NOT source IN_LIST arg_EXCEPT)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND together ${file})
    else()
      list(APPEND alone ${source})
    endif()
  endforeach()
  list(LENGTH together count)
  if(count LESS 2)
    return()
  endif()
  math(EXPR batches "(${count} + 39) / 40")
  set(made "")
  foreach(batch RANGE 1 ${batches})
    math(EXPR begin "${count} * (${batch} - 1) / ${batches}")
    math(EXPR length "${count} * ${batch} / ${batches} - ${begin}")
    list(SUBLIST together ${begin} ${length} files)
    list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN files "" text)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.batches/${batch}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY) # does not touch an unchanged file
    list(APPEND made ${file})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${alone} ${made})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  kernelgrade_includes_sources(${target})
  kernelgrade_relative_file_names(${target})
endfunction()

# kernelgrade_precompile(<target> <family> <header>...): parses the common headers of a family of targets once. All targets of a family use
# the same compiler options. Only if all operations are built: for a few of them the headers cost more than they save. (The compiler cache
# has to be told: KERNELGRADE_COMPILER_LAUNCHER.)
function(kernelgrade_precompile target family)
  if(KERNELGRADE_OPS OR NOT KERNELGRADE_BACKEND STREQUAL "host" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fno-strict-aliasing) # like its device sources
  get_property(first GLOBAL PROPERTY KERNELGRADE_PRECOMPILED_${family})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    if(KERNELGRADE_CCACHE)
      set_target_properties(${target} PROPERTIES
        CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/precompile.sh;${KERNELGRADE_COMPILER_LAUNCHER}")
    endif()
    set_property(GLOBAL PROPERTY KERNELGRADE_PRECOMPILED_${family} ${target})
  endif()
endfunction()

# Optimization options of kernels. -ffp-contract=off: kernels call fmaf explicitly, so results do not depend on the compiler's choice of
# operations to fuse.
set(KERNELGRADE_KERNEL_FLAGS -O3 -ffp-contract=off)
function(kernelgrade_kernel_options target)
  if(KERNELGRADE_BACKEND STREQUAL "host")
    target_compile_options(${target} PRIVATE ${KERNELGRADE_KERNEL_FLAGS} ${KERNELGRADE_HOST_ARCH})
    kernelgrade_relative_file_names(${target})
  endif()
endfunction()

# Options of kernels for the checkers and the counters: each memory access and each arithmetic fault calls a function of
# kernelgrade::checkers or kernelgrade::counters. Without scalar replacement a 16-byte access stays a single access. The hooks need source
# lines (-g1); locations of variables would double the compile time. Some optimization passes are disabled because the hooks dominate run
# time; this cuts compile time to a quarter. (Half of it was value range propagation, in which g++ duplicates code, hooks included, for each
# path.)
set(KERNELGRADE_CHECKED_OPTIMISATION -O2 -fno-tree-sra -fno-tree-vrp -fno-tree-pre -fno-code-hoisting -fno-tree-dominator-opts -fno-ivopts
  -fno-gcse -fno-cse-follow-jumps -fno-rerun-cse-after-loop -fno-crossjumping -fno-schedule-insns2 -fno-expensive-optimizations
  -fno-forward-propagate -fno-move-loop-invariants -fno-split-wide-types -fira-region=one)
# Identifies the compiler and its flags in the counts; the flags are hashed to a short name because it appears in thousands of rows.
string(MD5 flags "${KERNELGRADE_CHECKED_OPTIMISATION}")
string(SUBSTRING ${flags} 0 8 flags)
string(REGEX MATCH "^[0-9]+" version ${CMAKE_CXX_COMPILER_VERSION})
set(KERNELGRADE_COUNTER_ID "g++-${version} flags ${flags}")
set(KERNELGRADE_CHECKED_FLAGS ${KERNELGRADE_CHECKED_OPTIMISATION} -g1 -ffp-contract=off
  -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
  -fsanitize=bounds,signed-integer-overflow,shift,integer-divide-by-zero -fsanitize-recover=all)
# kernelgrade_checked_options(<target> [FLOAT_DIVISION])
#
# FLOAT_DIVISION: also reports floating-point division by zero. IEEE 754 defines the result, so it is not a finding by default.
function(kernelgrade_checked_options target)
  target_compile_options(${target} PRIVATE ${KERNELGRADE_CHECKED_FLAGS} ${KERNELGRADE_HOST_ARCH})
  if("FLOAT_DIVISION" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE -fsanitize=float-divide-by-zero)
  endif()
  target_compile_definitions(${target} PRIVATE KG_CHECKED=1)
  kernelgrade_relative_file_names(${target})
endfunction()

# Options of tests, timing cases and the command: they compile in half the time of -O3. Code inside a timed region asks for -O3 itself.
# Files are named relative to the project's root, so that compiler cache entries serve checkouts in other folders.
set(KERNELGRADE_BRIEF_COMPILATION $<$<COMPILE_LANGUAGE:CXX>:-Og> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Og>
  $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
