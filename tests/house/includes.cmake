# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Dependencies point one way: nothing under kernels/ includes tests/ or perf/, and only kernels/libraries/ includes vendor headers or its
# own. In kernels/cuda/source, the headers that implement CUDA's libraries with host libraries may also include vendor headers.
cmake_minimum_required(VERSION 3.25)
set(upwards "(tests|perf|judge|measure|cli|report)/")
set(vendors "(libraries/|cublas|cudnn|cblas|openblas|dnnl|oneapi/|thrust/|cub/)")

file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/kernels/*.h ${SOURCE}/kernels/*.cpp ${SOURCE}/kernels/*.cu)
if(NOT files)
  message(FATAL_ERROR "${SOURCE}/kernels: no sources")
endif()
foreach(file IN LISTS files)
  file(STRINGS ${SOURCE}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]")
  foreach(line IN LISTS lines)
    if(line MATCHES "[<\"/.]${upwards}")
      message(SEND_ERROR "${file}: ${line}: kernels must not depend on what tests or times them")
    endif()
    if(line MATCHES "[<\"]${vendors}" AND NOT file MATCHES "^kernels/(libraries|cuda/source/(blas|cub|thrust_memory|include/cublas))")
      message(SEND_ERROR "${file}: ${line}: only kernels/libraries/ may use a vendor's library")
    endif()
  endforeach()
endforeach()
list(LENGTH files number)
message("${number} files looked at")
