# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# cuDNN, as cuDNN::cudnn. Searched in CUDNN_ROOT (variable or environment), the CUDA toolkit, the system's folders, and the package
# nvidia-cudnn of the Python environment whose python3 is on PATH. That package has no development link: libcudnn.so.9 instead of
# libcudnn.so.

set(places "${CUDNN_ROOT}" "$ENV{CUDNN_ROOT}" ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_TARGET_DIR})
find_program(cuDNN_PYTHON NAMES python3 python)
if(cuDNN_PYTHON)
  execute_process(
    COMMAND "${cuDNN_PYTHON}" -c "import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0])"
    OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND places ${package})
endif()
list(REMOVE_ITEM places "")

# Header and library must come from the same location: each location is tried for both before the next.
find_path(cuDNN_INCLUDE_DIR cudnn_version.h HINTS ${places} PATH_SUFFIXES include)
if(cuDNN_INCLUDE_DIR)
  get_filename_component(prefix "${cuDNN_INCLUDE_DIR}/.." ABSOLUTE)
endif()
find_library(cuDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR HINTS "${prefix}" ${places} PATH_SUFFIXES lib64 lib lib/x64)
mark_as_advanced(cuDNN_PYTHON cuDNN_INCLUDE_DIR cuDNN_LIBRARY)

set(cuDNN_VERSION "")
if(cuDNN_INCLUDE_DIR)
  file(STRINGS "${cuDNN_INCLUDE_DIR}/cudnn_version.h" lines REGEX "#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  string(REGEX REPLACE "[^;]*_(MAJOR|MINOR|PATCHLEVEL) +([0-9]+)[^;]*" "\\2" numbers "${lines}")
  list(JOIN numbers "." cuDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  cuDNN
  REQUIRED_VARS cuDNN_LIBRARY cuDNN_INCLUDE_DIR
  VERSION_VAR cuDNN_VERSION
  REASON_FAILURE_MESSAGE "cuDNN 9 is needed. NVIDIA's apt repository: apt-get install cudnn9-cuda-<major>, for example cudnn9-cuda-13. Python: pip install nvidia-cudnn-cu<major>. Elsewhere: -DCUDNN_ROOT=<prefix>")

if(cuDNN_FOUND AND NOT TARGET cuDNN::cudnn)
  add_library(cuDNN::cudnn UNKNOWN IMPORTED)
  set_target_properties(cuDNN::cudnn PROPERTIES IMPORTED_LOCATION "${cuDNN_LIBRARY}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${cuDNN_INCLUDE_DIR}")
endif()
