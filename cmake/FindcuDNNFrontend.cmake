# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The headers of cudnn-frontend, as cuDNN::frontend. Searched in CUDNN_FRONTEND_ROOT (variable or environment), KERNELGRADE_HEADERS, the
# folder of cuDNN's own headers, the environment that .ci/run installs (build/cudnn-frontend), and the package nvidia-cudnn-frontend of the
# python3 on PATH. Only version 1.18: earlier versions do not know cuDNN 9.19, and from 1.19 on it contains kernels, so that every program
# would need the driver library to start.

find_program(cuDNN_PYTHON NAMES python3 python)
if(cuDNN_PYTHON)
  execute_process( # not imported, because that would load cuDNN
    COMMAND "${cuDNN_PYTHON}" -c "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('cudnn').origin).parents[1])"
    OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(GLOB installed ${PROJECT_SOURCE_DIR}/build/cudnn-frontend/lib/python3*/site-packages)
find_path(cuDNNFrontend_INCLUDE_DIR cudnn_frontend_version.h
  HINTS ${CUDNN_FRONTEND_ROOT} $ENV{CUDNN_FRONTEND_ROOT} ${KERNELGRADE_HEADERS} ${installed} ${cuDNN_INCLUDE_DIR} ${package}
  PATH_SUFFIXES include)
mark_as_advanced(cuDNN_PYTHON cuDNNFrontend_INCLUDE_DIR)

set(cuDNNFrontend_VERSION "")
if(cuDNNFrontend_INCLUDE_DIR)
  file(STRINGS "${cuDNNFrontend_INCLUDE_DIR}/cudnn_frontend_version.h" lines REGEX "#define CUDNN_FRONTEND_(MAJOR|MINOR|PATCH)_VERSION +[0-9]+")
  string(REGEX REPLACE "[^;]*_VERSION +([0-9]+)[^;]*" "\\1" numbers "${lines}")
  list(JOIN numbers "." cuDNNFrontend_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  cuDNNFrontend
  REQUIRED_VARS cuDNNFrontend_INCLUDE_DIR
  VERSION_VAR cuDNNFrontend_VERSION
  HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "rows of cuDNN's attention, layernorm and rmsnorm will be skipped. For them: pip install --no-deps 'nvidia-cudnn-frontend>=1.18,<1.19', or -DCUDNN_FRONTEND_ROOT=<prefix>")

if(cuDNNFrontend_FOUND AND NOT TARGET cuDNN::frontend)
  add_library(cuDNN::frontend INTERFACE IMPORTED)
  set_target_properties(cuDNN::frontend PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${cuDNNFrontend_INCLUDE_DIR}")
endif()
