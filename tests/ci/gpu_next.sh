#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_next.sh: what `.ci/gpu next` plans and does, on a machine without a GPU, with stand-ins for the programs: its order, what the record
# of an earlier session saves, budgets, a kind of GPU that is not there, and a bundle that lacks a file.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
# shellcheck source=tests/ci/gpu_machine.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_machine.sh"
ops=(axpy gemm softmax) dtypes=(f32 f16)
record=baselines/a-stand-in-no-gpu/done.csv
steps() { sed -n 's/^--> \([a-z]*\):.*/\1/p' "$work/log" | uniq | paste -sd' '; }

fresh
mkdir "$work/machine/baselines/a-stand-in-no-gpu"
{
  echo visit,unit,outcome,seconds,commit,kernels
  printf '%s\n' correctness,axpy.f32,passed,7,rehearsal,0123456789ab timed,softmax.f32.cold,passed,2,older,ba9876543210 \
    timed,axpy.f16.cold,hung,30,older,ba9876543210
} >"$work/machine/$record"
visit next --dry-run --budget 9m
check 'a plan is of the GPU that is there' said '^plan for a-stand-in-no-gpu, '
visit next --dry-run --gpu h100 --budget 9m
check 'or of one that is named' said '^plan for nvidia-h100, '
check 'of whose seconds nothing is recorded' said ' guess +programs +correctness +6: gemm.f32'
check 'it runs nothing' test "$code:$(wc -l <"$work/truth")" = 0:0
visit next --dry-run --budget 40s
check 'it is no longer than the budget' test "$(sed -n 's/ s planned//p' "$work/log")" -le 40
check 'of which something is left' said '^[1-9][0-9]* of [1-9][0-9]* units; the others wait'

visit next --budget 90m
check 'next passes' test "$code" = 0
check 'in this order' test "$(steps)" = 'correctness measure models scaling peers rounds gate calibrate sanitize measure ceilings instructions profile measure'
check 'what passed with this commit is not run again' test -z "$(outcome correctness axpy.f32)"
check 'rewritten rows are timed' test "$(outcome timed softmax.f32.cold)" = passed
check 'rows of f32 and f16 have baselines' test "$(outcome blessed gemm.f32.cold):$(outcome blessed gemm.f16.cold)" = passed:passed
check 'what hung is tried alone, at the end' test "$(grep '^-->' "$work/log" | tail -1)" = '--> measure: f16.cold.axpy-alone'
check 'what is left is for next again' said '^  .ci/gpu next --out '
visit next --budget 9m
check 'once it has passed it gets a baseline' test "$(outcome blessed axpy.f16.cold)" = passed
cp "$work/truth" "$work/before"
visit next --budget 9m
check 'then nothing is left for it' cmp "$work/truth" "$work/before"
new_machine
tar -xf "$work/results/rounds.tar" -C "$work"
cp -r "$work/rounds/baselines/." "$work/machine/baselines/"
rm -r "$work/results"
visit next --dry-run
check 'nor is anything planned with what was brought home' said '^0 of 0 units'

fresh
echo 'gemm.f32:Sizes wrong' >"$work/faults"
visit next --budget 60s
check 'a program that fails makes next fail' test "$code" = 1
new_machine
tar -xf "$work/results/rounds.tar" -C "$work"
cp -r "$work/rounds/baselines/." "$work/machine/baselines/"
rm -r "$work/results"
visit next --dry-run
check 'and comes first next time' said 'programs +correctness +gemm.f32$'

# A bundle that lacks a file.
fresh
rm "$work/machine/build/cuda/softmax_test"
visit next --budget 60s
check 'a missing test program fails' test "$code" = 1
fresh
rm "$work/machine/.ci/gpu.d/queue.awk"
visit next --budget 60s
check 'a missing queue fails' test "$code" = 1
check 'before anything but smoke runs' test -z "$(truth_of test | grep -v smoke)"
fresh
rm "$work/machine/build/cuda/tests.txt"
visit next --budget 60s
check 'a missing list of tests fails' test "$code" = 1

fresh
visit next --gpu h200
check 'of another kind of GPU nothing is measured' test "$code:$(wc -l <"$work/truth")" = 1:0
check 'it says which one is there' said "^--gpu h200: this machine has 'a stand-in, no GPU'"
for wrong in '--gpu v100' '--budget 9x' measure --fill; do
  # shellcheck disable=SC2086 # words
  visit next $wrong
  check "next $wrong is refused" test "$code:$(wc -l <"$work/truth")" = 2:0
done
exit $failed
