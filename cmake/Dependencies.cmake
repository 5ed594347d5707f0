# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Libraries from the distribution's packages. On a machine without a package manager, such as a GPU node, KERNELGRADE_GOOGLETEST_SOURCE
# names GoogleTest's source folder, and KERNELGRADE_HEADERS a folder that holds the headers CLI/, fmt/ and nlohmann/. Nothing is downloaded.

set(KERNELGRADE_GOOGLETEST_SOURCE "" CACHE PATH "GoogleTest source folder, where its package is not installed")
set(KERNELGRADE_HEADERS "" CACHE PATH "Folder with CLI/, fmt/ and nlohmann/ headers, where their packages are not installed")

find_package(Threads REQUIRED)

if(KERNELGRADE_GOOGLETEST_SOURCE)
  set(INSTALL_GTEST OFF)
  add_subdirectory(${KERNELGRADE_GOOGLETEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  if(NOT TARGET GTest::gtest)
    add_library(GTest::gtest ALIAS gtest)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
else()
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "GoogleTest was not found: install libgtest-dev, or set KERNELGRADE_GOOGLETEST_SOURCE")
  endif()
endif()

if(KERNELGRADE_HEADERS)
  foreach(header CLI/CLI.hpp fmt/format.h nlohmann/json.hpp)
    if(NOT EXISTS ${KERNELGRADE_HEADERS}/${header})
      message(FATAL_ERROR "KERNELGRADE_HEADERS is \"${KERNELGRADE_HEADERS}\", which lacks ${header}")
    endif()
  endforeach()
  add_library(kernelgrade_headers INTERFACE)
  target_include_directories(kernelgrade_headers SYSTEM INTERFACE ${KERNELGRADE_HEADERS})
  target_compile_definitions(kernelgrade_headers INTERFACE FMT_HEADER_ONLY)
  foreach(name fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
    add_library(${name} ALIAS kernelgrade_headers)
  endforeach()
else()
  foreach(package fmt CLI11 nlohmann_json)
    find_package(${package})
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "${package} was not found: install libfmt-dev, libcli11-dev and nlohmann-json3-dev, or set KERNELGRADE_HEADERS")
    endif()
  endforeach()
endif()

if(KERNELGRADE_BACKEND STREQUAL "host")
  find_package(TBB)
  if(NOT TBB_FOUND)
    message(FATAL_ERROR "oneTBB was not found: install libtbb-dev")
  endif()
endif()

# Only `kernelgrade report --tests` needs it; without it, the option is refused.
find_package(pugixml)
if(NOT pugixml_FOUND)
  message(STATUS "pugixml was not found (libpugixml-dev): `kernelgrade report --tests` is left out")
endif()

# Only `kernelgrade history` needs it; a machine without packages may lack it.
find_package(SQLite3)
if(NOT SQLite3_FOUND)
  message(STATUS "SQLite was not found (libsqlite3-dev): `kernelgrade history` is left out")
endif()
