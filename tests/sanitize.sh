#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# sanitize.sh TOOL PROGRAM: a test program under one tool of compute-sanitizer (memcheck, racecheck, initcheck, synccheck); only its
# tests of sizes, lengths and alignments, where indices go wrong, on little data. Exit code 77 where there is no sanitizer or no GPU.
set -uo pipefail
tool=$1 program=$2

command -v compute-sanitizer >/dev/null || { echo 'skipped: compute-sanitizer is not on PATH; it comes with the CUDA toolkit'; exit 77; }
# Poison makes all memory look initialised, and guards take what is read beside an array.
case $tool in
  memcheck | initcheck) export KERNELGRADE_UNGUARDED=1 ;;
esac
case $tool in
  memcheck) wanted=(--leak-check=full --padding=512 --track-stream-ordered-races=all --check-device-heap=yes --check-bulk-copy=yes) ;;
  racecheck | initcheck | synccheck) wanted=(--check-warpgroup-mma=yes) ;;
  *) echo "unknown tool '$tool'; it is memcheck, racecheck, initcheck or synccheck" >&2; exit 2 ;;
esac
# An older sanitizer lacks some of these options.
help=$(compute-sanitizer --help 2>&1)
options=()
for option in "${wanted[@]}"; do
  if grep -q -- "${option%%=*}" <<<"$help"; then options+=("$option"); fi
done
exec compute-sanitizer --tool "$tool" --error-exitcode 1 "${options[@]}" \
  "$program" --gtest_filter='*/f32.*Sizes*:*/f32.*Lengths*:*/f32.*lign*'
