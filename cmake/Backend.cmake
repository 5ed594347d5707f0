# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Chooses the backend. KERNELGRADE_BACKEND is `cuda` (nvcc compiles the kernels), `host` (the SIMT executor on the CPU) or `auto`: cuda if
# nvcc is found, otherwise host. Whether the machine has a GPU is checked at run time, not at configure time.

set(KERNELGRADE_BACKEND auto CACHE STRING "Where kernels run: auto, cuda or host")
set_property(CACHE KERNELGRADE_BACKEND PROPERTY STRINGS auto cuda host)

if(KERNELGRADE_BACKEND STREQUAL "auto")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(KERNELGRADE_BACKEND cuda CACHE STRING "Where kernels run: auto, cuda or host" FORCE)
  else()
    set(KERNELGRADE_BACKEND host CACHE STRING "Where kernels run: auto, cuda or host" FORCE)
  endif()
endif()
if(NOT KERNELGRADE_BACKEND MATCHES "^(cuda|host)$")
  message(FATAL_ERROR "KERNELGRADE_BACKEND is \"${KERNELGRADE_BACKEND}\"; use auto, cuda or host")
endif()

# Timings of unoptimized code mean nothing, and CMake's default build type does not optimize.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# g++ starts garbage collection at 128 MiB. With 1 GiB, many files compile 5 % faster, and the largest takes 600 MiB.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

if(KERNELGRADE_BACKEND STREQUAL "cuda")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90a-real)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know nvcc's C++20 option.
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  # nvcc passes its -O to the host compiler after all other options, so no target could choose another level.
  string(REPLACE "-O3" "" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
  add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O3>)
  find_package(CUDAToolkit REQUIRED)
  include(CudaWheels)
  kernelgrade_cuda_library(cublas cublas_v2.h)
  kernelgrade_cuda_library(cublasLt cublasLt.h)
  kernelgrade_cuda_library(cupti cupti.h)
  kernelgrade_cuda_library(nvrtc nvrtc.h)
  if(NOT TARGET CUDA::cublas)
    message(FATAL_ERROR "cuBLAS was not found, neither beside nvcc nor among the packages of python3: install libcublas-dev-<CUDA version> or nvidia-cublas")
  endif()
endif()

# The compiler cache must hit in every checkout, wherever its folder is. Source names are relative to the base directory, the build folder
# is not part of the key, and depend mode takes the includes from the compiler's own dependency list, which saves a preprocessor run
# (ccache.dev, "Configuration options"). The sloppiness setting lets ccache cache sources that include a precompiled header; the header's
# checksum tells versions apart (precompile.sh).
find_program(KERNELGRADE_CCACHE ccache)
if(KERNELGRADE_CCACHE)
  set(KERNELGRADE_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${KERNELGRADE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KERNELGRADE_COMPILER_LAUNCHER})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${KERNELGRADE_COMPILER_LAUNCHER})
endif()
