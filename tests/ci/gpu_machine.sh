# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of those who source this, and for them
#
# Sourced by gpu_visits.sh and gpu_kills.sh: a machine with a GPU that is none, on which .ci/gpu runs stand-ins for the programs (stand_in).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok: $what"; else echo "FAILED: $what"; failed=1; fi
}

add_tools() { ln -s "$root"/tests/ci/stand_in/{nvidia-smi,ncu,compute-sanitizer,python3} "$work/machine/bin/"; }
# A machine with the tree of a bundle and an empty folder for results.
unset KERNELGRADE_REQUIRE_GPU KERNELGRADE_STRICT LD_LIBRARY_PATH
export STAND_IN_TRUTH=$work/truth STAND_IN_FAULTS=$work/faults STAND_IN_SCALE=0
new_machine() {
  local op
  rm -rf "$work/machine"
  mkdir -p "$work"/machine/{tests,kernels,build/cuda/perf,bin}
  cp -r "$root/.ci" "$work/machine/"
  cp -r "$root/baselines" "$work/machine/"
  cp "$root/tests/sanitize.sh" "$work/machine/tests/"
  (cd "$root" && cp -r --parents kernels/models/configs perf/peers/kernelgrade_peers "$work/machine/")
  for op in "${ops[@]}"; do
    mkdir -p "$work/machine/kernels/ops/$op"
    ln -s "$root/tests/ci/stand_in/test_program" "$work/machine/build/cuda/${op}_test"
    for dtype in "${dtypes[@]}"; do echo "$op $dtype 0123456789ab"; done
  done >"$work/machine/build/cuda/tests.txt"
  ln -s "$root/tests/ci/stand_in/kernelgrade" "$work/machine/build/cuda/perf/kernelgrade"
  ln -s "$root/tests/ci/stand_in/kernelgrade-model" "$work/machine/build/cuda/perf/kernelgrade-model"
  "$root/tests/ci/stand_in/kernelgrade-model" list >"$work/machine/build/cuda/models.txt"
  ln -s "$root/tests/ci/stand_in/instructions" "$work/machine/build/cuda/instructions_test"
  add_tools
  printf 'source rehearsal\n' >"$work/machine/manifest.txt"
}
fresh() {
  rm -rf "$work/results" "$work/truth" "$work/faults"
  touch "$work/truth" "$work/faults"
  new_machine
}
visit() {
  code=0
  PATH=$work/machine/bin:$PATH "$work/machine/.ci/gpu" --out "$work/results" "$@" >"$work/log" 2>&1 || code=$?
}
said() { grep -Eq -- "$1" "$work/log"; }
outcome() { awk -F'\t' -v visit="$1" -v unit="$2" '$1 == visit && $2 == unit { outcome = $3 } END { print outcome }' "$work/results/done.tsv"; }
files() { find "$work/results" -type f | wc -l; }
tests_in() { awk -F'\t' '$1 == "correctness" { print "test " $2 }' "$work/results/done.tsv" | sort -u; }
truth_of() { grep "^$1 " "$work/truth" | sort -u || true; }
# The files of rows that finished passes left.
unpack_rows() {
  local pack
  rm -rf "$work/unpacked"
  mkdir "$work/unpacked"
  for pack in rows rounds; do [[ ! -e $work/results/$pack.tar ]] || tar -xf "$work/results/$pack.tar" -C "$work/unpacked"; done
}
