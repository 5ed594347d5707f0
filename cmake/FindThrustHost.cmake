# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Thrust for plain C++ on the CPU, as Thrust::Host: the CCCL headers of a CUDA toolkit (only its include/cccl, to hide the other CUDA
# headers) or the package libthrust-dev (1.17). ThrustHost_ROOT names another location. thrust::host is serial code, thrust::device uses
# oneTBB: on two cores TBB and OpenMP differ by less than 10 % for transform and reduce (16.8 million floats), and TBB does not add a second
# OpenMP runtime to a clang build, which already has the one of oneDNN.

find_program(ThrustHost_NVCC nvcc PATHS /usr/local/cuda/bin)
set(toolkit "")
if(ThrustHost_NVCC)
  get_filename_component(toolkit "${ThrustHost_NVCC}" REALPATH)
  get_filename_component(toolkit "${toolkit}/../.." ABSOLUTE)
endif()
find_path(ThrustHost_INCLUDE_DIR thrust/version.h
          HINTS "${CUDAToolkit_ROOT}" "${toolkit}" ENV CUDA_HOME ENV CUDA_PATH
          PATH_SUFFIXES include/cccl cccl targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include/cccl)
unset(toolkit)
mark_as_advanced(ThrustHost_NVCC ThrustHost_INCLUDE_DIR)

# THRUST_VERSION is MMMmmmpp: 101702 is 1.17.2, 300001 is 3.0.1.
set(ThrustHost_VERSION "")
if(ThrustHost_INCLUDE_DIR)
  file(STRINGS "${ThrustHost_INCLUDE_DIR}/thrust/version.h" line REGEX "#define THRUST_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" number "${line}")
  math(EXPR major "${number} / 100000")
  math(EXPR minor "${number} / 100 % 1000")
  math(EXPR patch "${number} % 100")
  set(ThrustHost_VERSION "${major}.${minor}.${patch}")
endif()

find_package(TBB QUIET CONFIG)
set(ThrustHost_TBB "${TBB_DIR}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ThrustHost
  REQUIRED_VARS ThrustHost_INCLUDE_DIR ThrustHost_TBB
  VERSION_VAR ThrustHost_VERSION
  REASON_FAILURE_MESSAGE "Thrust's headers and oneTBB are needed. Debian and Ubuntu: apt-get install libthrust-dev libtbb-dev. Elsewhere: -DThrustHost_ROOT=<folder that holds thrust/>")

if(ThrustHost_FOUND AND NOT TARGET Thrust::Host)
  add_library(Thrust::Host INTERFACE IMPORTED)
  set_target_properties(
    Thrust::Host
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ThrustHost_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES TBB::tbb
               INTERFACE_COMPILE_DEFINITIONS
               "THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP;THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_TBB")
endif()
