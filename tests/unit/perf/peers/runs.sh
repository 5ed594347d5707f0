#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of frameworks share; sourced with their arguments, KERNELGRADE SOURCE. Sets kernelgrade, source and folder, a new one.
# shellcheck disable=SC2034 # source is for those that source this
kernelgrade=$1
source=$2
export PYTHONPATH=$source/tests/unit/perf/peers KERNELGRADE_PYTHON=${KERNELGRADE_PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$(basename "$0"): $1"
  cat "$folder/out" "$folder/err"
  exit 1
}
# runs CODE ARGUMENT...: it must end with that code.
runs() {
  local code=0
  "$kernelgrade" "${@:2}" >"$folder/out" 2>"$folder/err" || code=$?
  [[ $code == "$1" ]] || fail "exit code $code in place of $1 of: ${*:2}"
}
has() { grep -q -- "$1" "$folder/$2" || fail "no '$1' in $2"; }
