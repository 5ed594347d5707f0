#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The script of recipe.yaml, which rattler-build runs in the sources, with conda's variables.
set -euo pipefail
unset CXXFLAGS CPPFLAGS # The emulator compiles with the flags of its build, and conda's name folders that are gone by then.
read -ra conda <<<"${CMAKE_ARGS:-}"
cmake -S . -B build/conda -G Ninja "${conda[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DKERNELGRADE_BACKEND=host -DKERNELGRADE_BUNDLE=ON -DKERNELGRADE_HOST_ARCH=-march=x86-64-v2
cmake --build build/conda --target installable
cmake --install build/conda --strip
