#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# try.sh few|all KERNELGRADE FOLDER NVCC OPERATION...: `kernelgrade try` as a user calls it, on the sources of this folder; NVCC may be
# empty. The operations are those of the build.
set -uo pipefail
extent=$1 kernelgrade=$2 nvcc=$4 operations=${*:5}
[[ $extent == few || $extent == all ]] || { printf 'try.sh: %s: few or all?\n' "$extent" >&2; exit 2; }
cd "$3" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT CODE WORDS ARGUMENT...
expect() {
  local what=$1 code=$2 words=$3
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

# shows WHAT PATTERN: a line of the last output.
shows() {
  grep -qE -- "$2" <<<"$output" && return
  printf 'FAILED: %s: no line matches "%s" in:\n%s\n' "$1" "$2" "$output"
  failed=1
}

CUDA_HOME=$work expect 'a right kernel, without nvcc' 0 'passed: correct and safe' softmax softmax.cu --max-cost 2 --json "$work/right.json" \
  --html "$work/right.html"
shows 'that there is no nvcc' '^registers and spills: not known: nvcc not found'
grep -q '"passed": true' "$work/right.json" || { echo 'FAILED: no verdict in the JSON'; failed=1; }
grep -q '<h2>passed: correct and safe' "$work/right.html" || { echo 'FAILED: no verdict in the page'; failed=1; }
grep -q '"not_claimed": \[' "$work/right.json" || { echo 'FAILED: the JSON does not say what is not claimed'; failed=1; }
CHEAT=race expect 'one with a race' 1 '[race] kernel ' softmax softmax.cu
CHEAT='even rows' expect 'one that is right for even rows' 1 'never written' softmax softmax.cu --json "$work/wrong.json" \
  --html "$work/wrong.html"
grep -q '<h2>FAILED: ' "$work/wrong.html" || { echo 'FAILED: a wrong kernel passes on the page'; failed=1; }
grep -q 'never written' "$work/wrong.html" || { echo 'FAILED: the page does not say what is wrong'; failed=1; }
grep -q '"passed": false' "$work/wrong.json" || { echo 'FAILED: a wrong kernel passes in the JSON'; failed=1; }
[[ $extent == few ]] ||
  CHEAT='another length' expect 'one that is wrong for rows of 1,234, which nobody tries' 0 'passed: correct and safe' softmax softmax.cu
CHEAT='another length' expect 'the same, tried with them' 1 'rows2_cols1234' softmax softmax.cu --shape rows2_cols1234
expect 'a shape that is none' 2 "shape 'rows2_cols' lacks 'cols'; add cols<number>" softmax softmax.cu --shape rows2_cols
expect 'a shape without a function' 2 'the source defines none of softmax_log_f32' softmax softmax.cu --shape log_rows2_cols9
printf 'int main( {\n' >"$work/broken.cu"
expect 'one that does not compile' 1 'it does not compile' softmax "$work/broken.cu"
printf '__global__ void k() {}\n' >"$work/other.cu"
expect 'one without the function' 2 'softmax_f32' softmax "$work/other.cu"
expect 'no file' 2 'no such file' softmax "$work/none.cu"
expect 'a type that it lacks' 2 'it has f32' softmax softmax.cu --dtype f16
expect 'no operation' 2 'unknown operation softmaxx' softmaxx softmax.cu
expect 'a test that is none' 2 'InPlase' softmax softmax.cu --without InPlase

# What it costs informs (above), and fails where the user asks for that. The contract is another matter, and takes time.
brief=(--without 'RandomAgainstOracle,RandomAgainstVendors,SpecialValues,Subnormals,Sizes,Misaligned,InPlace,SameBitsEveryTime,RowsAlone')
expect 'one that costs more than is allowed' 1 'rows16_cols4096: sectors_per_request is 8 times the minimum; --max-cost allows 4' \
  softmax slow_softmax.cu --max-cost 4 --json "$work/slow.json" "${brief[@]}"
shows 'its factor' '^f32 +sectors_per_request +32 +4 +8[.]00 +16 [(]block[)] +1[.]00 +rows16_cols4096 +slow_softmax[.]cu:74'
shows 'why' '^  slow_softmax[.]cu:74: uncoalesced read: 32 sectors per request'
grep -q '"cost": "sectors_per_request"' "$work/slow.json" || { echo 'FAILED: no costs in the JSON'; failed=1; }

# More elements than 32 bits count.
CUDA_HOME=$work CHEAT='unsigned index' expect 'an index of 32 bits' 1 '[race] kernel ' softmax softmax.cu --huge "${brief[@]}"
shows 'that it is wrong there alone' '^f32 +huge +1 of 1 FAILED'
if [[ $extent == all ]]; then
  CUDA_HOME=$work CHEAT='int index' expect 'an int' 1 'signed overflow' softmax softmax.cu --huge "${brief[@]}"
  CUDA_HOME=$work CHEAT='int index' expect 'the same without --huge' 0 'passed: correct and safe' softmax softmax.cu "${brief[@]}"
  CUDA_HOME=$work expect 'one of 64 bits' 0 'passed: correct and safe' softmax softmax.cu --huge "${brief[@]}"
  shows 'that it was tried there' '^f32 +huge +1 passed'
  if [[ " $operations " == *' pooling '* ]]; then
    CUDA_HOME=$work expect 'one of several blocks a row' 0 'passed: correct and safe' pooling pooling.cu --huge
    shows 'that it was tried there' '^f32 +huge +1 passed'
  fi
  if [[ " $operations " == *' reduction '* ]]; then
    expect 'rows along an inner axis' 0 'passed: correct and safe' reduction reduction.cu --huge "${brief[@]}"
    shows 'that they were tried there' '^f32 +huge +1 passed'
    expect 'an int' 1 'signed overflow' reduction reduction.cu --huge --compile -DINT_INDEX "${brief[@]}"
  fi
  if [[ " $operations " == *' permute '* ]]; then
    CUDA_HOME=$work expect 'an operation without rows' 1 'permute has none; leave --huge out' permute permute.cu --huge
  fi
fi

if [[ -n $nvcc ]]; then
  expect 'one that spills' 0 'spill_bytes' softmax slow_softmax.cu --compile -DSPILLS --json "$work/spills.json" "${brief[@]}"
  shows 'where it spills' '^  slow_softmax[.]cu:40: spill_bytes [1-9][0-9]*: it spills'
  grep -qE '"spill_bytes": [1-9]' "$work/spills.json" || { echo 'FAILED: no spills in the JSON'; failed=1; }
  printf '#include "%s/softmax.cu"\nint on_the_host() { return 1; }\n__global__ void mixed(int* out) { *out = on_the_host(); }\n' "$PWD" \
    >"$work/mixed.cu"
  expect 'one that nvcc alone refuses' 1 'calling a __host__ function("on_the_host' softmax "$work/mixed.cu" "${brief[@]}"
  # In one file: every operation's function has a name of its own.
  for op in $operations; do "$kernelgrade" try "$op" --signature || { echo "FAILED: the signature of $op"; failed=1; }; done >"$work/stubs.cu"
  "$nvcc" -std=c++17 -arch=sm_90a -c -o "$work/stubs.o" "$work/stubs.cu" || { echo 'FAILED: nvcc refuses a signature'; failed=1; }
fi
# PTX, as it may come from anywhere.
if [[ -n $nvcc ]]; then
  "$nvcc" -ptx -std=c++17 -arch=compute_80 -lineinfo -o "$work/softmax.ptx" softmax.cu || failed=1
  launch=(softmax "$work/softmax.ptx" --grid rows --block 256) contract=("${brief[@]}")
  [[ $extent == few ]] || contract=()
  expect 'the PTX of a right kernel' 0 'passed: correct and safe' "${launch[@]}" "${contract[@]}" --entry softmax_rows --arguments 'x, y, cols' --json "$work/ptx.json"
  shows 'what it costs, by lines of the source' 'softmax[.]cu:[0-9]'
  shows 'what it takes' '^softmax_rows +[1-9][0-9]* +0 +0 +1024 +0 +256 '
  grep -q '"passed": true' "$work/ptx.json" || { echo 'FAILED: no verdict in the JSON'; failed=1; }
  expect 'that of one with a race' 1 '[race] kernel (anonymous namespace)::with_a_race' "${launch[@]}" --entry with_a_race --arguments 'x, y, cols'
  shows 'where it races' 'reads 4 bytes at .*softmax[.]cu:68: .* wrote at .*softmax[.]cu:65'
  expect 'arguments in another order' 1 'changed its input x' "${launch[@]}" --entry softmax_rows --arguments 'y, x, cols'
  expect 'an argument too few' 2 'has 3 parameters of 8, 8, 8 bytes' "${launch[@]}" --entry softmax_rows --arguments 'x, y'
  expect 'a pointer too short' 1 'it does not compile' "${launch[@]}" --entry softmax_rows --arguments 'x, cols, nosuch'
  expect 'PTX of several kernels' 2 'kernels of softmax.ptx are that' "${launch[@]}" --arguments 'x, y, cols'
  expect 'no such function' 2 'the operation has no such function' "${launch[@]}" --function softmax_f8 --entry softmax_rows --arguments 'x, y, cols'
  expect 'PTX without a launch' 2 'Give --grid, --block and --arguments' softmax "$work/softmax.ptx"
  sed 's/^\tbar.sync.*/\ttcgen05.fence::before_thread_sync;/' "$work/softmax.ptx" >"$work/other.ptx"
  expect 'PTX that is not executed' 1 'is not executed: compile the kernel for sm_80' softmax "$work/other.ptx" "${launch[@]:2}" \
    --entry softmax_rows --arguments 'x, y, cols'
fi
# Processes: none outlives `try`, and none keeps it waiting. What runs in $work is found by that.
with_constructor() { # STATEMENT: the right kernel, with this before anything of it is called
  printf '#include <unistd.h>\n#include "%s/softmax.cu"\n__attribute__((constructor)) static void first() { %s }\n' "$PWD" "$1"
}
none_left() {
  for ((tries = 0; tries < 50; ++tries)); do
    pgrep -f "$work/|sleep 94$$" >"$work/left" || return
    sleep 0.1
  done
  printf 'FAILED: %s: it left the processes %s\n' "$1" "$(tr '\n' ' ' <"$work/left")"
  failed=1
}
if [[ $extent == all ]]; then
  export TMPDIR=$work
  with_constructor 'if (fork() == 0) { setsid(); execlp("sleep", "sleep", "'"94$$"'", nullptr); }' >"$work/forks.cu"
  expect 'one that leaves a child in a session of its own' 0 'passed: correct and safe' softmax "$work/forks.cu" "${brief[@]}"
  none_left 'one that leaves a child'
  with_constructor '_exit(0);' >"$work/exits.cu"
  expect 'one that exits when it is loaded' 1 'FAILED: the candidate ended the process, with exit code 0' softmax "$work/exits.cu"
  with_constructor 'for (int i = 0; i < 8; ++i) fork(); pause();' >"$work/many.cu"
  expect 'one that forks without end' 1 'FAILED: it had more than 64 processes at once' softmax "$work/many.cu"
  none_left 'one that forks without end'
  with_constructor 'for (;;) {}' >"$work/spins.cu"
  "$kernelgrade" try softmax "$work/spins.cu" >/dev/null 2>&1 &
  for ((tries = 0; tries < 600; ++tries)); do
    pgrep -f "kernelgrade-try softmax $work" >/dev/null && break
    sleep 0.1
  done
  kill -TERM $!
  wait $!
  rm "$work/spins.cu" # no compiler is left either
  none_left 'one that spins, where try is ended'
  unset TMPDIR
fi

: >"$work/empty.cu"
expect 'an empty file' 2 'defines none of these functions' softmax "$work/empty.cu"
shows 'that without a place in our sources' '^kernelgrade: '
grep -q '[.]cpp:' <<<"$output" && { echo "FAILED: an empty file: a place in our sources: $output"; failed=1; }

expect 'a launch for a CUDA source' 2 'launches its kernels itself' softmax softmax.cu --grid rows

expect 'an architecture that is none' 2 'sm_90' softmax softmax.cu --arch sm_1

expect 'the signature' 0 'extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream)' softmax --signature
"$kernelgrade" try softmax --signature >"$work/stub.cu"
expect 'the signature compiles, and does nothing' 1 'it launched no kernel' softmax "$work/stub.cu" --dtype f32
exit $failed
