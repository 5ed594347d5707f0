# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Only CMakeLists.txt defines the version. The changelog's latest release is that version, and it has an entry for the next one.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE}/CHANGELOG.md headings REGEX "^## ")
list(POP_FRONT headings first newest)
if(NOT first STREQUAL "## [Unreleased]")
  message(SEND_ERROR "CHANGELOG.md begins with '${first}'; begin it with '## [Unreleased]'")
endif()
string(REGEX REPLACE "[.]" "[.]" pattern "${VERSION}")
if(NOT VERSION MATCHES "^[0-9]+[.][0-9]+[.][0-9]+$" OR NOT newest MATCHES "^## .${pattern}. - 20[0-9][0-9]-[01][0-9]-[0-3][0-9]$")
  message(SEND_ERROR "CHANGELOG.md: its newest release is '${newest}', CMakeLists.txt has ${VERSION}; write '## [${VERSION}] - <date>'")
endif()
file(STRINGS ${SOURCE}/perf/peers/pyproject.toml other REGEX "^version = \"[0-9]+[.]")
if(other)
  message(SEND_ERROR "perf/peers/pyproject.toml: ${other}: CMakeLists.txt has the version; write 0")
endif()
