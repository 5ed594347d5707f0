#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_visits.sh [--brief] [--timed]: what .ci/gpu does after the first call of CUDA, on a machine without a GPU, with stand-ins for the
# programs: whole; with a device that hangs, has no memory left, and fails for good; from source. gpu_kills.sh kills it. --timed: with the
# measured times, how a visit of a quarter of an hour would go. --brief: what takes no waiting.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
timed=0 brief=0
while (($#)); do
  case $1 in
    --timed) timed=1 ;;
    --brief) brief=1 ;;
    *) echo 'usage: gpu_visits.sh [--brief] [--timed]' >&2; exit 2 ;;
  esac
  shift
done
# shellcheck source=tests/ci/gpu_machine.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_machine.sh"
rows_in() { # of the results: those of finished passes, and of the one that was being measured
  unpack_rows
  {
    find "$work/unpacked" -name '*.json.xz' -exec xz -dc {} +
    cat "$work"/results/*.json "$work"/results/*.journal 2>/dev/null || true
  } | sed -n 's/.*"row": "\([^"]*\)".*/row \1/p' | sort -u
}

# Every operation has its place, and every visit and option its line.
mapfile -t all_ops < <(for test in "$root"/tests/*_test.cu "$root"/tests/ops/*/*_test.cu; do basename "$test" _test.cu; done)
known=$(grep -v '^#' "$root/.ci/gpu.d/ops.txt" | cut -d: -f2 | tr ' ' '\n' | sed '/^$/d' | sort)
there=$(for op in "${all_ops[@]}"; do [[ ! -d $root/kernels/ops/$op ]] || echo "$op"; done | sort)
check 'ops.txt lists no operation twice' test -z "$(uniq -d <<<"$known")"
unknown=$(comm -23 <(echo "$known") <(echo "$there") | xargs)
check "ops.txt lists operations alone${unknown:+, and not $unknown}" test -z "$unknown"

if ((timed)); then
  mapfile -t ops <<<"$there"
  dtypes=(f32 f16 bf16)
  export STAND_IN_SCALE=1000 STAND_IN_MEASURED=1
  fresh
  cp -r "$work"/machine/baselines/{nvidia-h200,a-stand-in-no-gpu} # what has passed on an H200
  # A quarter of an hour, less the minute that a machine takes until its first command, with the bundle.
  visit smoke correctness --budget 330s
  cat "$work/log"
  visit ceilings bless --bless f32.cold,bf16.cold --budget 510s
  cat "$work/log"
  exit 0
fi

# Whole.
ops=(axpy gemm softmax) dtypes=(f32 f16)
fresh
visit --passes f32.cold,f16.graph --bless f32.cold --rounds 4
check 'a whole run passes' test $code = 0
check 'it says that nothing is left' said '^nothing is left to do'
check 'at most 8 files' test "$(files)" -le 8
check 'rows are in the packs' test "$(rows_in)" = "$(truth_of row)"
check 'libraries are measured in three of four rounds, ours in all' test \
  "$(truth_of row | grep -c ' library cold [0-9] rounds'):$(truth_of row | grep -c ' plain cold [0-9] rounds')" = 9:12
check 'the instructions have run' test "$(outcome instructions instructions):$(grep -c '^instructions' "$work/truth")" = passed:1
check 'the models that only a GPU runs have run, and how they scale' test "$(truth_of model):$(truth_of scaling)" = 'model model.f32.whole:scaling mlp'
check 'other frameworks have, of the operations that they have' grep -q '^peers axpy,softmax f32$' "$work/truth"
check 'enough unchanged code is checked' test "$(outcome calibrate calibrate)" = passed
check 'there are baselines' tar -tf "$work/results/rounds.tar" rounds/baselines/stand-in/gemm.csv
cp "$work/truth" "$work/before"
visit --passes f32.cold,f16.graph --bless f32.cold --rounds 4
check 'done is done: nothing runs twice' cmp "$work/truth" "$work/before"
new_machine
visit correctness measure --passes f32.cold,f16.graph
check 'nor on another machine' cmp "$work/truth" "$work/before"
visit measure --passes f32.cold --all-shapes
check 'all shapes are other rows than those of the pre-merge list' test "$code:$(rows_in | grep -c 'f32.* cold 1 measure')" = 0:36
check 'the command for what is left says so' said '^  .ci/gpu .* --all-shapes'
echo '{"row": "elsewhere", "verified": ""}' >"$work/results/measure.f32.real.first.json.journal"
visit measure --passes f32.real
check 'a pass begun on another machine is put aside, and measured' test "$code:$(rows_in | grep -c 'f32.* real 1 measure')" = 0:9
check 'and kept' tar -tf "$work/results/rows.tar" rows/measure.f32.real.first.elsewhere.json.journal.xz
for unit in measure.f16.real rounds.f16.real rounds.f16.hot; do
  printf '{"row": "begun %s", "verified": ""}\n' $unit >"$work/results/$unit.first.json.journal"
  cp "$work/results/$unit.first.json"{.journal,}
done
visit measure --passes f32.hot
check 'of passes that another visit began nothing lies beside the packs' test "$(files)" = 5
check 'they are in theirs' test "$(tar -tf "$work/results/rounds.tar" | grep -c /begun):$(tar -tf "$work/results/rows.tar" | grep -c /begun)" = 4:2
new_machine
visit measure --passes f16.real
check 'and are gone on with' test "$code:$(rows_in | grep -c 'row begun measure')" = 0:1
check 'once' test "$(tar -tf "$work/results/rows.tar" | grep -c /begun)" = 0
sed -i 's/rehearsal/another/' "$work/machine/manifest.txt"
visit correctness
check 'results of two sources are not mixed' said 'results of the source rehearsal, and this is another'

# What has never passed on this kind of GPU comes first, then what has other kernels since. A line that cannot be read is none.
record=baselines/a-stand-in-no-gpu/done.csv
fresh
mkdir "$work/machine/baselines/a-stand-in-no-gpu"
{
  echo visit,unit,outcome,seconds,commit,kernels
  printf 'correctness,%s\n' gemm.f32,passed,1,older,0123456789ab gemm.f16,passed,,older,ba9876543210 softmax.f32,passed,1,older \
    softmax.f16,passed,1,older,0123456789ab axpy.f32,failed,1,older,0123456789ab axpy.f16,passed,1,older,ba9876543210
} >"$work/machine/$record"
visit correctness --jobs 1
check 'what has never passed comes first, then what has other kernels' test \
  "$(grep '^test ' "$work/truth" | cut -d' ' -f2 | paste -sd' ')" = 'softmax.f32 axpy.f32 gemm.f16 axpy.f16 gemm.f32 softmax.f16'
check 'then all have passed' said '^0 of 6 test programs have never passed on a-stand-in-no-gpu$'
check 'and the record says so' test "$(tar -xOf "$work/results/rounds.tar" "rounds/$record" | grep -c '^correctness,.*,passed,[0-9]*,rehearsal,0123456789ab$')" = 6
check 'and which commit ran when' tar -xOf "$work/results/rounds.tar" "rounds/${record%/*}/visits.csv"
fresh
echo 'gemm.f32:Lengths wrong' >"$work/faults"
mkdir "$work/machine/baselines/a-stand-in-no-gpu"
printf '%s\n' visit,unit,outcome,seconds,commit,what correctness,gemm.f32,passed,1,older,0123456789ab >"$work/machine/$record"
visit correctness --ops gemm
check 'a record that is none counts for nothing, and a failure has not passed' said '^1 of 2 test programs have never passed on a-stand-in-no-gpu: gemm.f32$'

# A bundle needs no CMake.
mkdir "$work/tools"
ln -s /usr/bin/* "$work/tools/"
rm -f "$work"/tools/{cmake,ctest}
fresh
PATH=$work/tools visit correctness sanitize
check 'without CTest tests run side by side all the same' test "$code:$(tests_in | wc -l)" = 0:6
check 'guards and poison are off where they would hide from a sanitizer what it looks for' \
  test "$(truth_of sanitizer)" = "$(printf 'sanitizer %s unguarded=%s\n' initcheck 1 memcheck 1 racecheck 0 synccheck 0)"

rm "$work/tools/xz"
fresh
PATH=$work/tools visit
check 'a tool that is not there is missed before anything runs' test "$code:$(wc -l <"$work/truth")" = 1:0
check 'by its name' said '^xz is not on PATH'

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
check 'beyond what does not compile' grep -q '^cmake --build build/cuda --target kernelgrade instructions_test kernelgrade-model axpy_test gemm_test softmax_test -- -k 0$' "$work/truth"
check 'which has then failed' test "$(outcome correctness gemm.f32):$(outcome correctness axpy.f32):$code" = failed:passed:1
visit build --source-id rehearsal --ops axpy
check 'fewer operations are said by name' grep -q 'KERNELGRADE_OPS=axpy ' "$work/truth"

# Rows name their source: without git by a hash of its files, of which one has changed then; and nothing is measured that nobody may bless.
fresh
rm "$work/machine/manifest.txt"
mkdir -p "$work"/machine/{cmake,perf}
touch "$work"/machine/CMakeLists.txt "$work"/machine/tests/{axpy,gemm,softmax}_test.cu
visit smoke
check 'without git the source has a name all the same' grep -Eq $'^source\ttree-[0-9a-f]{12}\t' "$work/results/done.tsv"
echo '// changed' >"$work/machine/kernels/ops/axpy/axpy.cu"
visit smoke
check 'and another one when a file has changed' said 'results of the source tree-[0-9a-f]{12}, and this is tree-[0-9a-f]{12}'
in_machine() { git -C "$work/machine" -c user.name=a -c user.email=b -c commit.gpgsign=false "$@"; }
rm -r "$work/results"
in_machine init -q
in_machine add CMakeLists.txt baselines tests
in_machine commit -qm one
echo >>"$work/machine/baselines/host/device.json"
visit smoke measure --passes f32.cold
check 'a commit is the name, whatever is blessed since' test "$(outcome source "$(in_machine rev-parse --short=12 HEAD)")" = passed
check 'and its rows are measured' test "$code:$(rows_in | wc -l)" = 0:9
rm -r "$work/results"
echo '# changed' >>"$work/machine/CMakeLists.txt"
visit correctness measure
check 'rows of what is not committed are refused before anything runs' test "$code:$(grep -c '^test' "$work/truth")" = 1:0
check 'and why is said' said 'changes that are not committed'
bundled=$("$work/machine/.ci/gpu-bundle" --prebuilt "$work/bundle.tar.xz" 2>&1) || true
check 'no bundle of it is built' grep -q 'changes that are not committed' <<<"$bundled"

fresh
echo 'softmax.f32.large/plain flush' >"$work/faults"
visit
check 'where no row can be timed, tests go on' test "$code:$(tests_in | wc -l)" = 1:6
check 'and no rows' test "$(rows_in | wc -l)" = 0
check 'and what to do is said' said 'gpu correctness measure bless --mode hot --out'
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
  check 'it says the command for the rest' said '^  .ci/gpu .*correctness .*--out .*--budget 8s'
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
exit $failed
