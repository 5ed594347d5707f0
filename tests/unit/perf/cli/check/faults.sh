#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# faults.sh COMPILE SOURCE: programs under the checkers, each compiled once and run with one word for each fault and each right use.
# COMPILE: compile-cuda. SOURCE: the project.
set -uo pipefail
compile=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/tests/unit/perf/cli/check/programs/* "$work"
cd "$work" || exit 1
failed=0

compile() { # PROGRAM SOURCE [OPTION...]
  "$compile" program checked "$1" "$1.work" "${@:2}" || { echo "FAILED: $1 does not compile"; exit 1; }
}

# expect CODE PATTERN PROGRAM ARGUMENT...: of the output, in one line or over several.
expect() {
  local code=$1 pattern=$2
  shift 2
  output=$("./$1" "${@:2}" 2>&1)
  local got=$?
  if ((got == code)) && grep -qzP -- "$pattern" <<<"$output"; then
    echo "ok: $*"
  else
    printf 'FAILED: %s: exit code %d, not %d, or nothing matches "%s" in:\n%s\n' "$*" $got "$code" "$pattern" "$output"
    failed=1
  fi
}

compile host host.cu
for right in none set padding registered 'refused and seen' 'refused by cudaLaunchKernel, and seen'; do
  expect 0 'done: 9\n$' host "$right"
done
for refused in refused 'no shared memory'; do
  expect 1 'host\.cu:\d+: launch of fill: (.*\n)*kernelgrade: the program ends after a refused launch' host "$refused"
done
expect 1 '\[uninitialised\] the copy to the host at \S*host\.cu:\d+ takes 4 of its 4 bytes' host 'never written'
expect 1 'takes 928 of its 4000 bytes from where nothing has written, the first from byte 3072 of' host 'a block less'
expect 1 'takes 8 of its 4000 bytes' host 'of a copy'
expect 1 '\[race\] kernel fill_from_all_blocks.* at \S*host\.cu:' host 'registered, and a race'
expect 0 '\[leak\] 1 allocation was never freed' host leak

compile streams streams.cu
for right in 'stream waits' 'event waits' 'copy waits' 'device waits' 'query waits' 'other memory' function 'function tells'; do
  expect 0 '^\d+\n$' streams "$right"
done
for early in 'reads what a kernel writes' 'writes what a kernel writes' 'reads what a copy writes' 'reuses what a copy reads' \
  'waits for another stream'; do
  expect 1 '\[race\] the host (reads|writes) 4 bytes at \S*streams\.cu:\d+: .* nothing has waited for it\n  hint: ' streams "$early"
done

compile order order.cu
while read -r program; do
  fault=race
  [[ $program != freed* ]] || fault=freed
  expect 1 "\\[$fault\\] .* at \\S*order\\.cu:\\d+.*, which .* at \\S*order\\.cu:\\d+ .*; nothing (orders the two|has waited for it)\n  hint: " \
    order "$program"
  expect 0 '^no error\n$' order "$program" ordered
done < <(./order list)

# Several times: without its lock, a checker fails in about every second run.
compile threads threads.cu
for order in forward reverse random:1 random:2; do KERNELGRADE_THREAD_ORDER=$order expect 0 '^128\n$' threads; done

# docs/explanation/memory_model.md lists the same.
compile litmus litmus.cu
for right in 'message, volatile flag' 'message, atomic flag' 'message within a block, block fence' 'block barrier' 'warp barrier' \
  'grid barrier'; do
  expect 0 '^9\n$' litmus "$right"
done
expect 0 '^192\n$' litmus 'last block'
for right in 'store buffering' 'independent reads'; do expect 0 '^0\n$' litmus "$right"; done
for wrong in 'message, no fence' 'message, block fence' 'last block, no fence' 'last block, block fence' shuffle 'no barrier'; do
  expect 1 '\[race\] kernel ' litmus "$wrong"
done

compile orders orders.cu
compile relaxed orders.cu -DRELAXED
./orders >orders.txt 2>&1
if (($? == 77)); then
  echo 'skipped: orders (there is no libcu++)'
else
  expect 0 '^63\n$' orders
  expect 1 '\[race\] kernel pass' relaxed
fi

compile numbers numbers.cu
expect 0 'no error\n$' numbers
for bad in float negative 'not a number'; do
  expect 1 '\[arithmetic\] kernel convert.*numbers\.cu:\d+: conversion: .* does not fit into' numbers "$bad"
done
expect 1 '\[arithmetic\] kernel shift' numbers shift
expect 1 '\[arithmetic\] kernel divide, block \(0,0,0\), thread \(2,0,0\) at .*: division: 100 / 0\n' numbers divide
expect 1 '\[read-only\] kernel turn<true>.* reads 4 bytes through the read-only cache at \S*numbers\.cu:\d+: .*, which thread \(0,0,0\) wrote at \S*numbers\.cu:\d+ in the same launch\n  hint: ' \
  numbers read-only
expect 0 'no error\n$' numbers plain

# Only `check`, which reads the events, lets such loads pass.
compile undefined undefined.cu
KERNELGRADE_UNDEFINED_FILL=255 expect 1 '\[uninitialised\] kernel next' undefined

compile thrust thrust.cu
./thrust >thrust.txt 2>&1
if (($? == 77)); then
  echo 'skipped: thrust (there is no Thrust)'
else
  expect 0 '^136\n$' thrust
fi

compile together together.cu
for order in forward reverse random:1 random:2 random:3; do
  KERNELGRADE_THREAD_ORDER=$order expect 0 '^right\n$' together
done

exit $failed
