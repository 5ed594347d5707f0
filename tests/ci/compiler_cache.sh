#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What one checkout compiled with a precompiled header serves another, and never where a header differs:
#   compiler_cache.sh SOURCE_DIR COMPILER
# shellcheck disable=SC2317 # functions that `expect` calls
set -euo pipefail
precompile=$1/cmake/precompile.sh
compiler=$2
command -v ccache >/dev/null || { echo 'ccache is not here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DIR=$work/cache CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
unset CCACHE_DISABLE CCACHE_BASEDIR
failed=0

# build FOLDER VALUE: a checkout whose header says VALUE, compiled as CMake does; prints what its program answers and the cache's hits.
build() {
  mkdir -p "$work/$1"
  cd "$work/$1"
  echo "inline int value() { return $2; }" >value.h
  echo '#include "value.h"' >all.hxx
  echo 'int main() { return value(); }' >main.cpp
  ccache --zero-stats >/dev/null
  CCACHE_BASEDIR=$PWD "$precompile" ccache "$compiler" -I"$PWD" -x c++-header -MD -MF all.d -o all.hxx.gch -c "$PWD/all.hxx"
  CCACHE_BASEDIR=$PWD ccache "$compiler" -I"$PWD" -include "$PWD/all.hxx" -MD -MF main.d -o main.o -c main.cpp
  "$compiler" -o main main.o
  local answer=0
  ./main || answer=$?
  echo "$answer $(ccache --print-stats | awk '$1 == "direct_cache_hit" { print $2 }')"
}

expect() {
  local what=$1 wanted=$2 got
  shift 2
  got=$("$@")
  if [[ $got == "$wanted" ]]; then echo "ok: $what"; else echo "FAILED: $what: '$got', wanted '$wanted'"; failed=1; fi
}

expect 'nothing is there at first' '1 0' build a 1
expect 'another folder is served' '1 2' build b 1
expect 'a header that differs is compiled' '2 0' build c 2
expect 'the same folder is compiled anew where its header changed' '3 0' build a 3

cd "$work/a"
"$precompile" ccache "$compiler" -I"$PWD" -x c++-header -o all.hxx.gch -c all.hxx 2>/dev/null || true
[[ ! -e all.hxx.gch.sum ]] || { echo 'FAILED: a checksum of an unknown list of headers'; failed=1; }
exit "$failed"
