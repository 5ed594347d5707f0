# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Kernelgrade in another project, by add_subdirectory or FetchContent (docs/own_kernels.md): the targets and calls that
# find_package(Kernelgrade) brings but those for candidates. Nothing is built before a target of the project needs it; no test, no
# rule of installation and no target is added whose name does not begin with kernelgrade.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # what our libraries are linked with, the project links
if(NOT KERNELGRADE_BACKEND)
  set(KERNELGRADE_BACKEND host CACHE STRING "Where kernels run: auto, cuda or host")
endif()
include(Backend)
include(Compile)
include(Dependencies)
include(Foreign)
include(CheckTarget)
foreach(folder IN ITEMS kernels/runtime kernels/foreign perf/cost tests/oracle tests/support)
  add_subdirectory(${folder} EXCLUDE_FROM_ALL)
endforeach()
foreach(name IN ITEMS cost oracle test_support test_runner test_main)
  add_library(kernelgrade::${name} ALIAS kernelgrade_${name})
endforeach()
