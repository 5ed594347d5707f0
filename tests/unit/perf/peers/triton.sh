#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# triton.sh KERNELGRADE SOURCE [KERNEL...]: Triton's kernels (perf/peers) compiled to PTX, correct and safe in all that our own variants pass, and
# their costs beside ours. KERNELGRADE_PYTHON: the Python that has Triton; where it lacks it the test is skipped (77), and fails under
# KERNELGRADE_STRICT=1.
set -euo pipefail
kernelgrade=$1
source=$2
shift 2
python=${KERNELGRADE_PYTHON:-python3}
export PYTHONPATH=$source/perf/peers PYTHONDONTWRITEBYTECODE=1
if ! reason=$("$python" -c 'import triton' 2>&1); then
  echo "skipped: $python lacks Triton (pip install triton): ${reason##*$'\n'}"
  [[ ${KERNELGRADE_STRICT:-0} != 1 ]] || exit 1
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TRITON_CACHE_DIR=$folder/cache "$python" -W ignore -m kernelgrade_peers triton "$folder" >"$folder/names"
(($# > 0)) || mapfile -t -- names <"$folder/names"
(($# == 0)) || names=("$@")
((${#names[@]} > 0)) || { echo 'no kernels'; exit 1; }
failed=0
for name in "${names[@]}"; do
  mapfile -t arguments <"$folder/$name.arguments"
  op=${arguments[1]%_f32} # of the function: its operation is the longest name that begins it
  while ! "$kernelgrade" list --op "$op" >/dev/null 2>&1; do
    [[ $op == *_* ]] || { echo "FAILED: $name: unknown operation for ${arguments[1]}"; exit 1; }
    op=${op%_*}
  done
  printf '\n==> %s for %s\n' "$name" "$op"
  "$kernelgrade" try "$op" "$folder/$name.ptx" "${arguments[@]}" --dtype f32 || { echo "FAILED: $name"; failed=1; }
done

# What is wrong is found: the same kernel for another operation.
mapfile -t arguments <"$folder/vector_add.arguments"
arguments[1]=elementwise_sub_f32
if "$kernelgrade" try elementwise "$folder/vector_add.ptx" "${arguments[@]}" --dtype f32 >"$folder/text"; then
  echo 'a sum passed as a difference'
  failed=1
fi
grep -q 'elements are wrong' "$folder/text" || { echo 'it does not say what is wrong'; failed=1; }
exit $failed
