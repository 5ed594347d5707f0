#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_visits.sh [--brief] [--kills N] [--seed S] [--timed]: what .ci/gpu does after the first call of CUDA, on a machine without a GPU, with
# stand-ins for the programs (tests/ci/stand_in): whole; with a device that hangs, has no memory left, and fails for good; and killed at N
# random moments as a machine goes away, when nothing is left but the folder of the results. --timed: with the model's times unscaled, how
# long its visits take (16 minutes). --brief: what takes no waiting.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kills=5 seed=1 timed=0 brief=0
while (($#)); do
  case $1 in
    --kills) kills=$2; shift ;;
    --seed) seed=$2; shift ;;
    --timed) timed=1 ;;
    --brief) brief=1 ;;
    *) echo 'usage: gpu_visits.sh [--brief] [--kills N] [--seed S] [--timed]' >&2; exit 2 ;;
  esac
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok: $what"; else echo "FAILED: $what"; failed=1; fi
}

# A machine with the tree of a bundle and an empty folder for results.
unset KERNELGRADE_REQUIRE_GPU KERNELGRADE_STRICT LD_LIBRARY_PATH
export STAND_IN_TRUTH=$work/truth STAND_IN_FAULTS=$work/faults STAND_IN_SCALE=0
mapfile -t all_ops < <(for test in "$root"/tests/*_test.cu "$root"/tests/ops/*/*_test.cu; do basename "$test" _test.cu; done)
new_machine() {
  local op
  rm -rf "$work/machine"
  mkdir -p "$work"/machine/{tests,kernels,build/cuda/perf,bin}
  cp -r "$root/.ci" "$work/machine/"
  cp -r "$root/baselines" "$work/machine/"
  cp "$root/tests/sanitize.sh" "$work/machine/tests/"
  for op in "${ops[@]}"; do
    mkdir -p "$work/machine/kernels/$op"
    ln -s "$root/tests/ci/stand_in/test_program" "$work/machine/build/cuda/${op}_test"
    for dtype in "${dtypes[@]}"; do echo "$op $dtype"; done
  done >"$work/machine/build/cuda/tests.txt"
  ln -s "$root/tests/ci/stand_in/kernelgrade" "$work/machine/build/cuda/perf/kernelgrade"
  ln -s "$root/tests/ci/stand_in/instructions" "$work/machine/build/cuda/instructions_test"
  ln -s "$root"/tests/ci/stand_in/{nvidia-smi,ncu,compute-sanitizer} "$work/machine/bin/"
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
rows_in() { # of the results: those of finished passes, and of the one that was being measured
  {
    for pack in rows rounds; do
      [[ ! -e $work/results/$pack.tar ]] || {
        mkdir -p "$work/unpacked"
        tar -xf "$work/results/$pack.tar" -C "$work/unpacked"
      }
    done
    find "$work/unpacked" -name '*.json.xz' -exec xz -dc {} + 2>/dev/null || true
    cat "$work"/results/*.json "$work"/results/*.journal 2>/dev/null || true
    rm -rf "$work/unpacked"
  } | sed -n 's/.*"row": "\([^"]*\)".*/row \1/p' | sort -u
}
tests_in() { awk -F'\t' '$1 == "correctness" { print "test " $2 }' "$work/results/done.tsv" | sort -u; }
truth_of() { grep "^$1 " "$work/truth" | sort -u || true; }

# Every operation has its place, and every visit and option its line.
known=$(grep -v '^#' "$root/.ci/gpu.d/ops.txt" | cut -d: -f2 | tr ' ' '\n' | sed '/^$/d' | sort)
there=$(for op in "${all_ops[@]}"; do [[ ! -d $root/kernels/$op || $op == vendor ]] || echo "$op"; done | sort)
check 'ops.txt lists every operation once' test "$known" = "$there"

if ((timed)); then
  mapfile -t ops <<<"$there"
  dtypes=(f32 f16 bf16)
  export STAND_IN_SCALE=1000
  fresh
  time_of() {
    local begin=$SECONDS what=$1
    shift
    visit --budget 15 "$@"
    printf 'rehearsed with modelled times, not measured on a GPU: %-55s %4d s, exit code %d\n' "$what" $((SECONDS - begin)) $code
  }
  time_of 'smoke' smoke
  time_of 'correctness of all operations, eight at a time' correctness
  time_of 'all f32 rows, cold, without naive, once' measure --passes f32.cold
  time_of 'ten rounds of them, blessed' bless --bless f32.cold
  cat "$work/results/summary.txt"
  exit $failed
fi

# Whole.
ops=(axpy gemm softmax) dtypes=(f32 f16)
fresh
visit --passes f32.cold,f16.graph --bless f32.cold --rounds 3
check 'a whole run passes' test $code = 0
check 'it says that nothing is left' said '^nothing is left to do'
check 'at most 8 files' test "$(files)" -le 8
check 'rows are in the packs' test "$(rows_in)" = "$(truth_of row)"
check 'the instructions have run' test "$(outcome instructions instructions):$(grep -c '^instructions' "$work/truth")" = passed:1
check 'there are baselines' tar -tf "$work/results/rounds.tar" rounds/baselines/stand-in/gemm.csv
cp "$work/truth" "$work/before"
visit --passes f32.cold,f16.graph --bless f32.cold --rounds 3
check 'done is done: nothing runs twice' cmp "$work/truth" "$work/before"
new_machine
visit correctness measure --passes f32.cold,f16.graph
check 'nor on another machine' cmp "$work/truth" "$work/before"
echo '{"row": "elsewhere", "verified": ""}' >"$work/results/measure.f32.real.first.json.journal"
visit measure --passes f32.real
check 'a pass begun on another machine is put aside, and measured' test "$code:$(rows_in | grep -c 'f32.* real 1 measure')" = 0:9
check 'and kept' tar -tf "$work/results/rows.tar" rows/measure.f32.real.first.elsewhere.json.journal.xz
sed -i 's/rehearsal/another/' "$work/machine/manifest.txt"
visit correctness
check 'results of two sources are not mixed' said 'results of the source rehearsal, and this is another'

# A bundle needs no CMake.
mkdir "$work/tools"
ln -s /usr/bin/* "$work/tools/"
rm -f "$work"/tools/{cmake,ctest}
fresh
PATH=$work/tools visit correctness sanitize
check 'without CTest tests run side by side all the same' test "$code:$(tests_in | wc -l)" = 0:6

# A device with faults.
fresh
cat >"$work/faults" <<'TEXT'
gemm.f32:Lengths sticky
gemm.f16:Sizes memory
softmax.f32:Lengths crash
softmax.f16:Vendor hang
axpy.f32:Sizes wrong
axpy.f16:MoreThan2To31Elements huge
gemm.f32.large/wide hang
softmax.f32.large/library memory
axpy.f32.large/plain sticky
instructions wrong
TEXT
visit instructions correctness measure bless --passes f32.cold --bless f32.cold --rounds 2 --limit 3
check 'a device with faults fails' test $code = 1
check 'an instruction that differs fails, and is shown' test "$(outcome instructions instructions):$(grep -c '^add.f32 of .*, and not' "$work/log")" = failed:1
check 'after a sticky error the test that made it fails alone' said 'FAILED correctness gemm.f32 .*sticky; alone, too: Op/f32.Lengths$'
check 'a test that found no memory passes alone' test "$(outcome correctness gemm.f16)" = passed
check 'what was too huge beside others runs alone' test "$(outcome alone axpy.f16:Op/f16.MoreThan2To31Elements)" = passed
check 'of a crash the one test is named' said 'FAILED correctness softmax.f32 .*crash; alone, too: Op/f32.Lengths$'
check 'of a hang, too' said 'FAILED correctness softmax.f16 .*slow; alone, too: Op/f16.Vendor$'
check 'a wrong result is one, and is not tried again' test "$(outcome correctness axpy.f32):$(outcome alone axpy.f32:Op/f32.Sizes)" = failed:
check 'rows with faults cost themselves alone' test "$(rows_in | grep -c ' cold 1 measure')" = 9
check 'the other rows are blessed' test "$(tar -xOf "$work/results/rounds.tar" rounds/baselines/stand-in/gemm.csv | wc -l)" = 2
check 'junit says so' grep -q '<failure message="sticky; alone, too' <(tar -xOf "$work/results/logs.tar" logs/correctness.xml)
: >"$work/faults"
visit correctness measure --passes f32.cold --again
check 'with --again what failed is tried again, and passes' test "$(outcome correctness gemm.f32)$(outcome correctness axpy.f32)$code" = passedpassed0

# From source: options are never left to CMake's cache, and what does not compile costs itself alone.
fresh
rm "$work/machine/manifest.txt" "$work/machine/build/cuda/tests.txt" "$work/machine/build/cuda/gemm_test"
ln -s "$root"/tests/ci/stand_in/{cmake,ctest,nvcc} "$work/machine/bin/"
for op in "${ops[@]}"; do touch "$work/machine/tests/${op}_test.cu"; done
visit correctness --source-id rehearsal
check 'without programs they are built first' said '^==> build'
check 'for this GPU, all operations, warnings being none of its errors' \
  grep -q '^cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES=90a-real -DKERNELGRADE_OPS= -DKERNELGRADE_WERROR=OFF$' "$work/truth"
check 'beyond what does not compile' grep -q '^cmake --build build/cuda --target kernelgrade instructions_test axpy_test gemm_test softmax_test -- -k 0$' "$work/truth"
check 'which has then failed' test "$(outcome correctness gemm.f32):$(outcome correctness axpy.f32):$code" = failed:passed:1
visit build --source-id rehearsal --ops axpy
check 'fewer operations are said by name' grep -q 'KERNELGRADE_OPS=axpy ' "$work/truth"

fresh
echo 'softmax.f32.large/plain flush' >"$work/faults"
visit
check 'smoke ends a visit' test "$code:$(grep -c '^test' "$work/truth")" = 1:0
check 'and says what to do' said 'gpu correctness measure bless --mode hot --out'
if ((!brief)); then
  fresh
  echo 'kernelgrade hang' >"$work/faults"
  begin=$SECONDS
  visit correctness measure --budget 8s
  check 'a command that hangs ends with the budget' test $code = 1 -a $((SECONDS - begin)) -le 20

  # The time is over: what is not done is said, with the command for it; what is done stays.
  fresh
  STAND_IN_SCALE=1000 visit correctness --budget 8s --jobs 1
  check 'a budget that is too small fails' test $code = 1
  check 'it says the command for the rest' said '^  .ci/gpu correctness .*--out .*--budget 8s'
  visit correctness --jobs 1
  check 'with time the rest is done' test $code = 0
  check 'the worthiest operation comes first' test "$(grep -m1 '^test ' "$work/truth")" = 'test gemm.f32'
  check 'all of it' test "$(tests_in)" = "$(truth_of test)" -a "$(tests_in | wc -l)" = 6

  # TERM, as of a scheduler: ends at once, with everything packed.
  fresh
  STAND_IN_SCALE=1000 PATH=$work/machine/bin:$PATH "$work/machine/.ci/gpu" --out "$work/results" correctness >"$work/log" 2>&1 &
  job=$!
  sleep 6
  kill -TERM $job || true
  begin=$SECONDS
  wait $job || true
  check 'TERM ends it within 3 s' test $((SECONDS - begin)) -le 3
  check 'with a summary' test -s "$work/results/summary.txt"
fi

# Killed at random moments, with everything that it started: then the machine is gone.
RANDOM=$seed
kill_session() {
  local pids
  for _ in 1 2 3; do # what is killed may have started another just before
    mapfile -t pids < <(cat /proc/[0-9]*/stat 2>/dev/null | awk -v session="$1" '{ pid = $1; sub(/^.*\) /, "") } $4 == session { print pid }')
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
  done
}
export STAND_IN_SCALE=$((brief ? 30 : 100))
arguments=(--passes 'f32.cold,f32.graph' --bless f32.cold --rounds 3)
printf '\nkills of seed %d, with modelled times by %d thousandths\n%4s %8s  %-12s %6s %6s %10s %11s\n' "$seed" "$STAND_IN_SCALE" kill after/ms during rows tests 'rows lost' 'tests lost'
fresh
most_rows=0 most_tests=0 runs=0
for ((n = 1; n <= kills; n++)); do
  after=$((300 + RANDOM % (brief ? 4000 : 7000)))
  new_machine
  PATH=$work/machine/bin:$PATH setsid "$work/machine/.ci/gpu" --out "$work/results" "${arguments[@]}" >"$work/log" 2>&1 &
  session=$!
  for ((waited = 0; waited < after; waited += 20)); do
    kill -0 $session 2>/dev/null || break
    sleep 0.02
  done
  kill_session $session
  wait $session 2>/dev/null || true
  during=$(sed -n 's/^==> //p' "$work/log" | tail -1)
  lost_rows=$(comm -23 <(truth_of row) <(rows_in) | wc -l)
  lost_tests=$(comm -23 <(truth_of test) <(tests_in) | wc -l)
  gone=$(comm -13 <(truth_of row) <(rows_in) | wc -l)
  printf '%4d %8d  %-12s %6d %6d %10d %11d\n' "$n" "$after" "${during:-start}" "$(rows_in | wc -l)" "$(tests_in | wc -l)" "$lost_rows" "$lost_tests"
  ((lost_rows <= most_rows)) || most_rows=$lost_rows
  ((lost_tests <= most_tests)) || most_tests=$lost_tests
  # What was lost is not missed at the next kill again.
  comm -12 <(truth_of row) <(rows_in) >"$work/kept"
  { cat "$work/kept"; truth_of test | comm -12 - <(tests_in); } >"$work/truth"
  ((gone == 0)) || { echo "FAILED: $gone rows that nothing measured"; failed=1; }
  if grep -q '^nothing is left to do' "$work/results/summary.txt" 2>/dev/null; then
    runs=$((runs + 1))
    check "run $runs: all rows, after its kills" test "$(rows_in | wc -l)" = 45
    fresh
  fi
done
check "a kill loses at most one row ($most_rows)" test "$most_rows" -le 1
check "and at most the tests that were running ($most_tests of up to 8)" test "$most_tests" -le 8
new_machine
visit "${arguments[@]}"
check 'in the end everything is done' said '^nothing is left to do'
check 'every row is there once' test "$(rows_in | wc -l)" = 45
check 'every test, too' test "$(tests_in | wc -l)" = 6
check 'the baselines hold all rounds' test "$(tar -xOf "$work/results/rounds.tar" rounds/baselines/stand-in/gemm.csv)" = "$(printf 'gemm.f32.large,%s,cold,3\n' library plain wide)"
exit $failed
