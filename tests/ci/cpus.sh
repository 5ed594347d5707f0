#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# One slice of the tests as on other CPUs: tests/ci/cpus.sh, in a tree that ./grade test has built. oneDNN and OpenBLAS are told to use
# no more than that CPU has. What is listed must be the same on each, and a library's row that one lacks must fail nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tree=build/host
work=$tree/cpus
# Levels above what this CPU has are the CPU's own.
cpus=('SSE41 Prescott' 'AVX2 Haswell' 'AVX512_CORE Zen' 'AVX512_CORE_BF16 SkylakeX')
tests='*/f32.*Vendors*:*/bf16.*Vendors*'

failed=0
must_pass() {
  local log=$1 code=0
  shift
  "$@" >"$log" 2>&1 || code=$?
  ((code == 0 || code == 77)) && return 0
  printf 'FAILED (%d): %s\n' $code "$*"
  tail -n 20 "$log"
  failed=1
}

rm -rf "$work"
mkdir -p "$work"
for cpu in "${cpus[@]}"; do
  read -r isa core <<<"$cpu"
  if [[ $core == SkylakeX ]] && ! grep -qw avx512f /proc/cpuinfo; then
    echo "OPENBLAS_CORETYPE=SkylakeX is left out: OpenBLAS would run AVX-512, which this CPU lacks"
    core=''
  fi
  export ONEDNN_MAX_CPU_ISA=$isa DNNL_MAX_CPU_ISA=$isa OPENBLAS_CORETYPE=$core
  for op in axpy softmax gemm; do
    must_pass "$work/$isa.$op.log" "$tree/${op}_test" "--gtest_filter=$tests"
  done
  must_pass "$work/$isa.once.log" "$tree/perf/kernelgrade" run --op gemm --dtype bf16 --once
  # Times are not the question here: that every row of the baselines still has its case is.
  "$tree/perf/kernelgrade" gate --op gemm --processes 1 >"$work/$isa.gate.log" 2>&1 || true
  if ! grep -q 'gemm\.bf16\.' "$work/$isa.gate.log" || grep -E 'orphan|malformed|kernelgrade: ' "$work/$isa.gate.log"; then
    echo "FAILED: kernelgrade gate --op gemm at $isa: $work/$isa.gate.log"
    failed=1
  fi
  "$tree/perf/kernelgrade" list >"$work/$isa.list"
  cmp "$work/SSE41.list" "$work/$isa.list" || { echo "FAILED: kernelgrade list differs at $isa"; failed=1; }
  printf '%-18s %-9s %s\n' "$isa" "$core" "$(grep -c 'not available here' "$work/$isa.once.log" || true) rows not available here"
done
exit $failed
