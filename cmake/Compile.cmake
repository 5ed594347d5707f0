# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# How sources are compiled. Used by the tree and, installed, by the projects of others (find_package(Kernelgrade)).

# kernelgrade_device_sources(<target> <file>...): adds .cu files to a target, compiled by nvcc on cuda and as C++ on host.
function(kernelgrade_device_sources target)
  if(KERNELGRADE_BACKEND STREQUAL "host")
    kernelgrade_host_sources(${target} ${ARGN})
  else()
    target_sources(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# kernelgrade_host_sources(<target> <file>...): adds .cu files that hold no kernel, compiled as C++ on both: nvcc, which parses a file once
# for the host and once for each architecture, takes several times as long.
function(kernelgrade_host_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  # The compiler goes by the ending of a name; -x says what the file is. CUDA code reads floats as int4 and the like.
  set(options -x c++ -fno-strict-aliasing)
  if(KERNELGRADE_BACKEND STREQUAL "cuda")
    list(APPEND options -include runtime/cuda/device_names.h) # as nvcc includes its own names before a source
  endif()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${options}")
endfunction()

# A compiler newer than those of CI may warn of more, which must not keep a user from building. CI sets the variable CI.
set(error_on_warnings OFF)
if(DEFINED ENV{CI})
  set(error_on_warnings ON)
endif()
option(KERNELGRADE_WERROR "Warnings are errors; by default where CI builds" ${error_on_warnings})

# kernelgrade_warnings(<target>...): warns of all that KERNELGRADE_WERROR can make errors.
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
  # Loops are unrolled for GPUs; that clang++ could not unroll one for the CPU is no fault.
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

# kernelgrade_relative_file_names(<target>): source files are named from the project's root in messages, and so in the machine code,
# which is then the same wherever the project lies. Ninja names sources from the build folder.
function(kernelgrade_relative_file_names target)
  file(RELATIVE_PATH root ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR}) # "../../" of a parent, "../x" of others
  string(REGEX REPLACE "/$" "" root ${root})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${root}/=>)
endfunction()

# kernelgrade_includes_sources(<target>): what its files include may be no header; g++ warns of what such a file keeps to itself.
function(kernelgrade_includes_sources target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# kernelgrade_compile_together(<target> [EXCEPT <source>...]): the C++ sources that it has so far in batches of up to 40, since most of
# the time goes into the headers and templates that they share (four batches of eight took 25 s of CPU, one of 32 takes 14 s and 1 GB).
# Sources with options of their own stay alone. Not CMake's UNITY_BUILD: its batches hold absolute paths, and what the compiler cache
# keeps would not serve a checkout in another folder. g++ alone: the build by clang++ tells clang-tidy how each file is compiled.
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
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY) # leaves the file as it is where nothing changed
    list(APPEND made ${file})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${alone} ${made})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  kernelgrade_includes_sources(${target})
  kernelgrade_relative_file_names(${target})
endfunction()

# kernelgrade_precompile(<target> <family> <header>...): what all targets of a family include, parsed once. They are compiled alike and
# differ in nothing but their sources. Only where all operations are built: for a few the headers cost more than they save. (The compiler
# cache has to be told: KERNELGRADE_COMPILER_LAUNCHER.)
function(kernelgrade_precompile target family)
  if(KERNELGRADE_OPS OR NOT KERNELGRADE_BACKEND STREQUAL "host" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fno-strict-aliasing) # as its device sources
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

# How kernels are compiled to be fast. -ffp-contract=off: kernels say fmaf where they mean it, so results do not depend on what
# a compiler chooses to fuse.
set(KERNELGRADE_KERNEL_FLAGS -O3 -ffp-contract=off)
function(kernelgrade_kernel_options target)
  if(KERNELGRADE_BACKEND STREQUAL "host")
    target_compile_options(${target} PRIVATE ${KERNELGRADE_KERNEL_FLAGS} ${KERNELGRADE_HOST_ARCH})
    kernelgrade_relative_file_names(${target})
  endif()
endfunction()

# How kernels are compiled for the checkers and the counters: each access to memory and each arithmetic fault calls a function, which
# kernelgrade::checkers and kernelgrade::counters have. Without scalar replacement a 16-byte access stays one. They need the lines of
# the source (-g1); the places of variables would make half of the compiler's work.
# Left out are passes, too, that only make code faster: the calls take the time here, and without these passes the compiler needs a quarter
# of the time. (Half of it went into value ranges alone, by which g++ copies code, calls and all, for each way that leads there.)
set(KERNELGRADE_CHECKED_OPTIMISATION -O2 -fno-tree-sra -fno-tree-vrp -fno-tree-pre -fno-code-hoisting -fno-tree-dominator-opts -fno-ivopts
  -fno-gcse -fno-cse-follow-jumps -fno-rerun-cse-after-loop -fno-crossjumping -fno-schedule-insns2 -fno-expensive-optimizations
  -fno-forward-propagate -fno-move-loop-invariants -fno-split-wide-types -fira-region=one)
# What counts are counted by: the compiler, and its flags as a short name, since it stands in thousands of rows.
string(MD5 flags "${KERNELGRADE_CHECKED_OPTIMISATION}")
string(SUBSTRING ${flags} 0 8 flags)
string(REGEX MATCH "^[0-9]+" version ${CMAKE_CXX_COMPILER_VERSION})
set(KERNELGRADE_COUNTER_ID "g++-${version} flags ${flags}")
set(KERNELGRADE_CHECKED_FLAGS ${KERNELGRADE_CHECKED_OPTIMISATION} -g1 -ffp-contract=off
  -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
  -fsanitize=bounds,signed-integer-overflow,shift,integer-divide-by-zero -fsanitize-recover=all)
# kernelgrade_checked_options(<target> [FLOAT_DIVISION])
#
# FLOAT_DIVISION: a division of floating-point numbers by zero is a finding, too. IEEE 754 defines it, so it is none otherwise.
function(kernelgrade_checked_options target)
  target_compile_options(${target} PRIVATE ${KERNELGRADE_CHECKED_FLAGS} ${KERNELGRADE_HOST_ARCH})
  if("FLOAT_DIVISION" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE -fsanitize=float-divide-by-zero)
  endif()
  target_compile_definitions(${target} PRIVATE KG_CHECKED=1)
  kernelgrade_relative_file_names(${target})
endfunction()

# How tests, the cases of timings and the command are compiled: in half of the time that -O3 takes. What a clock sees asks for -O3 itself.
# Files are named from the project's root: what the compiler cache keeps serves checkouts in other folders, too.
set(KERNELGRADE_BRIEF_COMPILATION $<$<COMPILE_LANGUAGE:CXX>:-Og> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Og>
  $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
