#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# progress.sh few|all source COMPILE, progress.sh few|all ptx KERNELGRADE NVCC: blocks that wait for each other, with and without checkers,
# on one core; all: on all cores as well, and by every kind of poll. COMPILE: compile-cuda.
set -uo pipefail
extent=$1
shift
what=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export KERNELGRADE_JIT_CACHE=$work/cache
failed=0
first=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/') # of the cores that this may use

if [[ $what == source ]]; then
  for kind in plain checked; do
    "$2" program $kind "$kind" "$kind.work" "$here/progress.cu" || { echo 'FAILED: progress.cu does not compile'; exit 1; }
  done
  commands=('./plain' './checked')
else
  [[ -x ${3:-} ]] || { echo 'there is no nvcc'; exit 77; }
  "$3" -std=c++17 -lineinfo -cudart shared -gencode arch=compute_80,code=compute_80 "$here/progress.cu" -o program || exit 1
  commands=("$2 emulate -- ./program" "$2 emulate --checked -- ./program")
fi

# expect CODE PATTERN CORES WORD...: of the output of all commands, in one line or over several.
expect() {
  local code=$1 pattern=$2 cores=$3 command output got
  shift 3
  for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    output=$($cores $command "$@" 2>&1)
    got=$?
    if ((got == code)) && grep -qzP -- "$pattern" <<<"$output"; then
      echo "ok: $cores $command $*"
    else
      printf 'FAILED: %s %s: exit code %d, not %d, or nothing matches "%s" in:\n%s\n' "$cores $command" "$*" $got "$code" "$pattern" "$output"
      failed=1
    fi
  done
}

one="timeout 100 taskset -c $first"
shared() {
  expect 0 'right' "$one" ldcg 16
  expect 0 'right' "$one" back 50
  expect 0 'right' "$one" last 50
  expect 0 'right' "$one" look_back 500
  crowded ldcg
  expect 1 'deadlock in kernel [^;]*all resident blocks only poll[^;]*; 1 block is resident, 1 was launched; block \(0,0,0\): threads 0\.\.1 wait in \S[^;]* at \S*progress\.cu:\d+' \
    "$one" crossed_locks
}

# 163 KiB of shared memory: one block per multiprocessor, 16 on the device. Which of them are preempted at the end depends on the seed.
places='16 blocks are resident, 20 were launched'
crowded() {
  expect 1 "deadlock in kernel [^;]*leave no place[^;]*; $places; block \(\d+,0,0\)( and \d+ more)?: thread 0 waits in \S[^;]* at \S*progress\.cu:\d+; threads 1\.\.63 wait in " \
    "$one" "$1" 20 crowded
}

everything() {
  local cores poll blocks
  for cores in "$one" 'timeout 100'; do
    for poll in volatile ldcg add cas sleep; do
      for blocks in 2 16; do expect 0 'right' "$cores" $poll $blocks; done
    done
    expect 0 'right' "$cores" ldcg 64
    expect 0 'right' "$cores" add 64
    expect 0 'right' "$cores" forth 50
    expect 0 'right' "$cores" ticket 50
    expect 0 'right' "$cores" ordered_locks
  done
  expect 0 'right' 'timeout 100' back 50
  expect 0 'right' 'timeout 100' last 50
  expect 0 'right' 'timeout 100' look_back 500
  for poll in add cas sleep; do crowded $poll; done
  expect 1 "deadlock in kernel [^;]*leave no place[^;]*; $places; .*progress\.cu:\d+" 'timeout 100' last 20 crowded
}

shared
case $extent in
  few) ;;
  all) everything ;;
  *) echo "progress.sh: $extent: few or all?"; exit 2 ;;
esac
exit $failed
