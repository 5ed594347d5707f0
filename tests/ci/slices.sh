#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# slices.sh BUILD: each test of the labels mutants and nightly is in exactly one slice of .ci/slice.py, but those that build for others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=$(sed -nE 's/^SLICES = ([0-9]+)$/\1/p' .ci/slice.py)
for ((number = 0; number < count; ++number)); do
  # Nothing has changed since HEAD itself: the slice alone is listed.
  python3 .ci/slice.py --build "$1" --number $number --base HEAD --seconds 1 --list | sed -nE 's/^ *[0-9.]+ s  //p' | tr ' ' '\n'
done | sort >"$work/dealt"
ctest --test-dir "$1" -N -L '^(mutants|nightly)$' | sed -nE 's/^ *Test +#[0-9]+: //p' | grep -vE '[.]build$' | sort >"$work/listed"
[[ -s $work/listed ]] || { echo 'CTest lists none'; exit 1; }
diff "$work/listed" "$work/dealt"
echo "$(wc -l <"$work/dealt") tests, each in one of $count slices"
