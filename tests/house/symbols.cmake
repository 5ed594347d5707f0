# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# A kernel that calls the library it is compared with would be compared with itself: no kernel library of BUILD contains a vendor symbol.
# Every folder of kernels/ops must have a library, so none is missed; in a build of some operations, the folders in OPS, comma-separated
# (empty: all).
cmake_minimum_required(VERSION 3.25)
# C functions start with a vendor's prefix; Thrust and CUB are templates in namespaces of that name.
set(vendors "(^|[^a-zA-Z0-9_])(cublas[A-Z]|cudnn[A-Z]|cblas_|openblas_|dnnl_|dnnl::|thrust::|cub::)")

file(GLOB headers ${SOURCE}/kernels/ops/*/*.h)
set(ops "")
foreach(header IN LISTS headers)
  # kernels/ops/<op>/<op>.h declares an op.
  cmake_path(GET header STEM name)
  cmake_path(GET header PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  if(name STREQUAL folder)
    list(APPEND ops ${name})
  endif()
endforeach()
if(NOT ops)
  message(FATAL_ERROR "${SOURCE}/kernels/ops: no operations")
endif()
if(OPS)
  string(REPLACE "," ";" ops "${OPS}")
endif()

foreach(op IN LISTS ops)
  file(GLOB libraries ${BUILD}/libkernelgrade_${op}.a ${BUILD}/libkernelgrade_${op}_checked.a)
  if(NOT EXISTS ${BUILD}/libkernelgrade_${op}.a)
    message(SEND_ERROR "${BUILD}/libkernelgrade_${op}.a is missing: build it; is kernelgrade_add_op(${op} ...) there?")
  endif()
  foreach(library IN LISTS libraries)
    execute_process(COMMAND ${NM} -C --format=posix ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE ";" "," symbols "${symbols}")
    string(REPLACE "\n" ";" symbols "${symbols}")
    list(FILTER symbols INCLUDE REGEX "${vendors}")
    foreach(symbol IN LISTS symbols)
      message(SEND_ERROR "${library}: ${symbol}")
    endforeach()
  endforeach()
endforeach()
message("looked at the libraries of: ${ops}")
