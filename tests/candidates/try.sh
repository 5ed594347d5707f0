#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# try.sh KERNELGRADE FOLDER: `kernelgrade try` as a user calls it, on the sources of this folder.
set -uo pipefail
kernelgrade=$1
cd "$2" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT CODE WORDS ARGUMENT...
expect() {
  local what=$1 code=$2 words=$3 output
  shift 3
  output=$("$kernelgrade" try "$@" 2>&1)
  local got=$?
  if ((got == code)) && grep -qF -- "$words" <<<"$output"; then
    echo "ok: $what"
  else
    printf 'FAILED: %s: exit code %d, not %d, or no "%s" in:\n%s\n' "$what" $got "$code" "$words" "$output"
    failed=1
  fi
}

expect 'a right kernel' 0 'passed: right and safe' softmax softmax.cu --json "$work/right.json"
grep -q '"passed": true' "$work/right.json" || { echo 'FAILED: no verdict in the JSON'; failed=1; }
grep -q '"not_claimed": \[' "$work/right.json" || { echo 'FAILED: the JSON does not say what is not claimed'; failed=1; }
CHEAT=race expect 'one with a race' 1 '[race] kernel ' softmax softmax.cu
CHEAT='even rows' expect 'one that is right for even rows' 1 'sums to' softmax softmax.cu
CHEAT='even rows' expect 'it is not safe either' 1 'FAILED' softmax softmax.cu --json "$work/wrong.json"
grep -q '"passed": false' "$work/wrong.json" || { echo 'FAILED: a wrong kernel passes in the JSON'; failed=1; }
printf 'int main( {\n' >"$work/broken.cu"
expect 'one that does not compile' 1 'it does not compile' softmax "$work/broken.cu"
printf '__global__ void k() {}\n' >"$work/other.cu"
expect 'one without the function' 2 'softmax_f32' softmax "$work/other.cu"
expect 'no file' 2 'there is no such file' softmax "$work/none.cu"
expect 'no operation' 2 'there is no operation softmaxx' softmaxx softmax.cu
expect 'a test that is none' 2 'InPlase' softmax softmax.cu --without InPlase
expect 'the signature' 0 'extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream)' softmax --signature
"$kernelgrade" try softmax --signature >"$work/stub.cu"
expect 'the signature compiles, and does nothing' 1 'it launched no kernel' softmax "$work/stub.cu"
exit $failed
