#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# slices.sh BUILD: each test of the labels mutants and nightly is in exactly one slice of .ci/slice.py, but those that build for others.
# A family that no test belongs to is refused.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=$(sed -nE 's/^SLICES = ([0-9]+)$/\1/p' .ci/slice.py)
for ((number = 0; number < count; ++number)); do
  # Nothing has changed since HEAD itself: the slice alone is listed.
  python3 .ci/slice.py --build "$build" --number $number --base HEAD --list | sed -nE 's/^ *[0-9.]+ s  //p' | tr ' ' '\n'
done | sort >"$work/dealt"
printf 'subdirs("%s")\n' "$(realpath "$build")" >"$work/CTestTestfile.cmake" # in $build, CTest would truncate LastTest.log
ctest --test-dir "$work" -N -L '^(mutants|nightly)$' | sed -nE 's/^ *Test +#[0-9]+: //p' | grep -vE '[.]build$' | sort >"$work/listed"
[[ -s $work/listed ]] || { echo 'CTest lists none'; exit 1; }
diff "$work/listed" "$work/dealt"
echo "$(wc -l <"$work/dealt") tests, each in one of $count slices"

refused() {
  local code=0
  python3 .ci/slice.py --build "$build" --list "${@:2}" >"$work/said" 2>&1 || code=$?
  if ((code != 1)) || ! grep -qF "$1" "$work/said"; then
    cat "$work/said"
    echo "expected exit 1 and \"$1\", got $code"
    exit 1
  fi
}
refused 'no nightly test of the family chekced' --families chekced,checked
