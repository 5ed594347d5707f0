# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# OpenBLAS with its cblas.h, as OpenBLAS::OpenBLAS: the actual library, not the distribution's BLAS alternative, because
# openblas_get_config() names the library in the results. OpenBLASLib_ROOT names another location.

# Only OpenBLAS's own cblas.h is installed with an openblas_config.h.
set(flavours openblas-pthread openblas-openmp openblas-serial openblas)
find_path(OpenBLASLib_INCLUDE_DIR openblas_config.h PATH_SUFFIXES ${flavours})
find_library(OpenBLASLib_LIBRARY openblas PATH_SUFFIXES ${flavours})
mark_as_advanced(OpenBLASLib_INCLUDE_DIR OpenBLASLib_LIBRARY)

set(OpenBLASLib_VERSION "")
if(OpenBLASLib_INCLUDE_DIR)
  file(STRINGS "${OpenBLASLib_INCLUDE_DIR}/openblas_config.h" line REGEX "OPENBLAS_VERSION")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" OpenBLASLib_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OpenBLASLib
  REQUIRED_VARS OpenBLASLib_LIBRARY OpenBLASLib_INCLUDE_DIR
  VERSION_VAR OpenBLASLib_VERSION
  REASON_FAILURE_MESSAGE "OpenBLAS is needed. Debian and Ubuntu: apt-get install libopenblas-dev. Elsewhere: -DOpenBLASLib_ROOT=<prefix>")

if(OpenBLASLib_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION "${OpenBLASLib_LIBRARY}"
                                                      INTERFACE_INCLUDE_DIRECTORIES "${OpenBLASLib_INCLUDE_DIR}")
endif()
