#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_kills.sh COMMAND [--kills N] [--seed S]: `.ci/gpu correctness measure bless`, killed at N random moments as a machine goes away, when
# nothing is left but the folder of the results, and gone on with on another machine. Prints a table. COMMAND is that of
# tests/unit/perf/cli/test_main.cpp: the true `kernelgrade`, with its journal, its going on and its `bless --from`, on invented operations,
# of which copy stands for a product, whose variants take turns.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
kills=5 seed=1 command=''
while (($#)); do
  case $1 in
    --kills) kills=$2; shift ;;
    --seed) seed=$2; shift ;;
    *) command=$(realpath "$1") ;;
  esac
  shift
done
[[ -x $command ]] || { echo 'usage: gpu_kills.sh COMMAND [--kills N] [--seed S]' >&2; exit 2; }
# shellcheck source=tests/ci/gpu_machine.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_machine.sh"
mkdir "$work/tmp"
export TMPDIR=$work/tmp # the locks there are no others' than this test's
export STAND_IN_COMMAND=$command STAND_IN_MADE=$work/made STAND_IN_ROW_MS=200 STAND_IN_SCALE=200
ops=(gemm copy fill) dtypes=(f32 f16)
arguments=(correctness measure bless --mode real --passes 'f32.real,f16.real' --bless f32.real --rounds 3)
readonly kMeasured=$((5 + 4 + 3 * 5)) # f32 has five rows, f16 four; three rounds of those of f32

begin() {
  fresh
  : >"$work/made"
  missed=0
}
# So many times a row was measured, as the results say. What is measured still has a journal, which holds all that its file does.
kept() {
  local file name
  unpack_rows
  {
    for file in "$work"/unpacked/*/*.json.xz; do
      name=$work/results/$(basename "$file" .xz)
      [[ ! -e $file || -e $name || -e $name.journal ]] || xz -dc "$file"
    done
    for file in "$work"/results/*.json; do [[ ! -e $file || -e $file.journal ]] || cat "$file"; done
    for file in "$work"/results/*.json.journal; do [[ ! -e $file ]] || grep '^{.*}$' "$file" || true; done
  } | sed 's/"process_medians_ns":/\n&/g' | sed -n 's/^"process_medians_ns":\[\([^]]*\)\].*/\1/p' | awk -F, '{ n += NF } END { print n + 0 }'
}
# Until none of the session's processes is alive: what is killed may have started another just before.
kill_session() {
  local pids
  while
    mapfile -t pids < <(cat /proc/[0-9]*/stat 2>/dev/null |
      awk -v session="$1" '{ pid = $1; sub(/^.*\) /, "") } $4 == session && $1 != "Z" { print pid }')
    ((${#pids[@]} > 0))
  do kill -KILL "${pids[@]}" 2>/dev/null || true; done
}
baselines() { tar -xOf "$work/results/rounds.tar" rounds/baselines/host/{gemm,copy,fill}.csv; }
all_there() {
  local rows
  rows=$(kept)
  check "every row is measured and there ($rows of $kMeasured)" test "$rows" = $kMeasured
  check 'every test, too' test "$(tests_in | wc -l)" = 6
  check 'the baselines are those of a run that nothing ended' test "$(baselines)" = "$expected"
  check 'the results are at most 8 files' test "$(files)" -le 8
}

begin
visit "${arguments[@]}"
check 'a run that nothing ends passes' test "$code" = 0
((code == 0)) || { cat "$work/log"; exit 1; }
expected=$(baselines)
check 'and blesses all three rounds of its rows' test "$(grep -c '100000;100000;100000' <<<"$expected")" = 5
all_there

printf '\nkills of seed %d, with invented times\n%4s %8s  %-12s %5s %6s %10s %14s %11s\n' \
  "$seed" kill after/ms during rows tests 'rows lost' 'in turns lost' 'tests lost'
RANDOM=$seed
most_rows=0 most_interleaved=0 most_tests=0 runs=0
begin
for ((n = 0; n < kills; )); do
  after=$((300 + RANDOM % 7000))
  new_machine
  PATH=$work/machine/bin:$PATH setsid "$work/machine/.ci/gpu" --out "$work/results" "${arguments[@]}" >"$work/log" 2>&1 &
  session=$!
  disown $session # bash would report its end
  for ((waited = 0; waited < after; waited += 20)); do
    kill -0 $session 2>/dev/null || break
    sleep 0.02
  done
  if ! kill -0 $session 2>/dev/null; then # it came through before
    runs=$((runs + 1))
    echo "run $runs is through"
    check 'it passed' grep -q '^passed; results' "$work/log"
    all_there
    begin
    continue
  fi
  kill_session $session
  n=$((n + 1))
  during=$(sed -n 's/^==> //p' "$work/log" | tail -1)
  # The rows that began last are those that nothing kept.
  begun=$(wc -l <"$work/made") rows=$(kept)
  mapfile -t lost < <(tail -n $((begun - rows - missed)) "$work/made" | cut -d' ' -f1)
  missed=$((begun - rows))
  interleaved=$(printf '%s\n' "${lost[@]}" | grep -c '^copy\.' || true)
  lost_rows=$((${#lost[@]} - interleaved))
  lost_tests=$(comm -23 <(truth_of test) <(tests_in) | wc -l)
  truth_of test | comm -12 - <(tests_in) >"$work/truth.kept" # what is lost is not missed at the next kill again
  mv "$work/truth.kept" "$work/truth"
  printf '%4d %8d  %-12s %5d %6d %10d %14d %11d\n' "$n" "$after" "${during:-start}" "$rows" "$(tests_in | wc -l)" $lost_rows "$interleaved" "$lost_tests"
  ((lost_rows <= most_rows)) || most_rows=$lost_rows
  ((interleaved <= most_interleaved)) || most_interleaved=$interleaved
  ((lost_tests <= most_tests)) || most_tests=$lost_tests
  [[ $(printf '%s\n' "${lost[@]}" | sort -u | wc -l) -le 1 ]] || { echo "FAILED: lost rows of several cases: ${lost[*]}"; failed=1; }
done
check "a kill loses at most one row ($most_rows)" test "$most_rows" -le 1
check "of a product those that took turns ($most_interleaved of 2)" test "$most_interleaved" -le 2
check "and at most the tests that were running ($most_tests of up to 8)" test "$most_tests" -le 8
new_machine
visit "${arguments[@]}"
check 'in the end everything is done' test "$code" = 0
all_there
exit $failed
