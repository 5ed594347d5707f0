# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# oneDNN (libdnnl), version 2 or 3, as OneDNN::OneDNN. Its own config package is not used: on Debian 12 it requires OpenCL headers, which
# the CPU engine does not need. OneDNN_ROOT names another location.

find_path(OneDNN_INCLUDE_DIR dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

set(OneDNN_VERSION "")
foreach(header IN ITEMS oneapi/dnnl/dnnl_version.h dnnl_version.h)
  if(OneDNN_INCLUDE_DIR AND NOT OneDNN_VERSION AND EXISTS "${OneDNN_INCLUDE_DIR}/${header}")
    file(STRINGS "${OneDNN_INCLUDE_DIR}/${header}" lines REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX REPLACE "[^;]*_(MAJOR|MINOR|PATCH) +([0-9]+)[^;]*" "\\2" numbers "${lines}")
    list(JOIN numbers "." OneDNN_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR
  VERSION_VAR OneDNN_VERSION
  REASON_FAILURE_MESSAGE "oneDNN 2 or later is needed. Debian and Ubuntu: apt-get install libdnnl-dev. Elsewhere: -DOneDNN_ROOT=<prefix>")

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES IMPORTED_LOCATION "${OneDNN_LIBRARY}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
