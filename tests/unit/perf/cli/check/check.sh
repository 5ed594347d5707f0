#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh KERNELGRADE SOURCE: `kernelgrade check` as a user calls it, on programs with one fault of each kind. SOURCE: the project.
set -uo pipefail
kernelgrade=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/tests/unit/perf/cli/check/programs/* "$source"/examples/check/* "$work"
cd "$work" || exit 1
failed=0

# expect WHAT CODE PATTERN ARGUMENT...: of the output, in one line or over several.
expect() {
  local what=$1 code=$2 pattern=$3
  shift 3
  output=$("$kernelgrade" check "$@" 2>&1)
  local got=$?
  if ((got == code)) && grep -qzP -- "$pattern" <<<"$output"; then
    echo "ok: $what"
  else
    printf 'FAILED: %s: exit code %d, not %d, or nothing matches "%s" in:\n%s\n' "$what" $got "$code" "$pattern" "$output"
    failed=1
  fi
}

must() {
  "$@" || { printf 'FAILED: %s\n' "$*"; failed=1; }
}

expect 'a race: both threads, both lines, a hint' 1 '\[race\] kernel reverse_chunks, block \(0,0,0\), thread .* at race\.cu:\d+: .* thread .* at race\.cu:\d+; nothing orders the two\n  hint: put __syncthreads' \
  race.cu --json race.json --sarif race.sarif
expect 'the same without it' 0 'passed: no findings \(1 launch in 4 orders of threads;' race.cu -D REPAIRED
expect 'without checkers' 0 "passed: the program's own verdict" race.cu --fast -D REPAIRED
expect 'nothing wrong, with arguments' 0 'argument: a b\n' faults.cu -- 'a b'
expect 'a write beyond a buffer' 1 '\[out-of-bounds\] kernel fill.* at faults\.cu:\d+: .*\n  hint: ' faults.cu -- bounds
expect 'a read of what nothing has written' 1 '\[uninitialised\] kernel add_up' faults.cu -- uninitialised
unused='\n  hint: .*\n  no result depends on the value: with the bytes 0x00, 0x7F and 0xFF there, all results are the same\n'
expect 'undefined values that nothing needs' 0 "0 18\n.*\nnote: \[uninitialised\] kernel next, .* at undefined\.cu:\d+: byte 256 of .*${unused}note: \[uninitialised\] kernel sum_of_two.*${unused}note: \[uninitialised\] kernel fold, .* reads 4 bytes of lane \d+ by __shfl_down_sync at undefined\.cu:\d+: .*${unused}\npassed" \
  undefined.cu --json undefined.json
must grep -q '"fails": false' undefined.json
expect 'the same in memory that the host reads in place' 0 "0 18\n.*\nnote: \[uninitialised\] kernel next.*${unused}" undefined.cu -D MANAGED --order forward
expect 'all loads, where that is asked for' 1 'kernel next, .*which nothing has written\n  hint: fill .*\n\n' undefined.cu --uninitialised-loads --order forward
for use in DATA BRANCH INDEX POLL ADD 'DATA -D MANAGED' 'DATA -D DROPPED'; do
  # shellcheck disable=SC2086 # several options
  expect "a load whose value is used: $use" 1 '\n\[uninitialised\] kernel sum_of_two.*which nothing has written\n  hint: .*\n  a result depends on the value\nnote: (.*\n)*FAILED: [12] finding' \
    undefined.cu --order forward -D $use
done
expect 'a value of an absent lane that is used' 1 '\n\[uninitialised\] kernel fold.*\n  hint: .*\n  a result depends on the value\nnote: (.*\n)*FAILED: 1 finding ' undefined.cu --order forward -D SHUFFLE
expect 'texels that nothing has written' 1 '\n\[uninitialised\] kernel fetch.* reads 4 bytes at texture\.cu:8: byte 0 of a buffer of 128 bytes.*\n  hint: .*\n  a result depends' texture.cu --order forward
expect 'a divergent barrier' 1 'divergent barrier in kernel diverge' faults.cu --json divergent.json -- divergent
expect 'whole warps at two barriers' 1 'divergent barrier in kernel diverge.*CUDA C\+\+ requires' faults.cu -- 'divergent warps'
expect 'memory that is never freed is only said' 0 'note: \[leak\] ' faults.cu -- leak
expect 'a buffer that nothing reads is only said' 0 '\nnote: \[unread\] nothing reads the buffer of 512 bytes that a kernel writes at unread\.cu:11; ' unread.cu
for reader in copied added 'passed on' counted 'in place'; do
  expect "a buffer that is read: $reader" 0 '^(?!(.*\n)*note: )(.*\n)*passed' unread.cu --order forward -- "$reader"
done
expect 'what a faulty program did not get to read is not said' 1 '^(?!(.*\n)*note: )(.*\n)*FAILED' faults.cu -- bounds
expect 'an exit code of its own' 1 'FAILED: the program ended with exit code 3' faults.cu -- wrong
expect 'a signal' 1 'FAILED: the program ended by signal 6' faults.cu -- crash
expect 'no kernel' 1 'FAILED: the program launched no kernel, so nothing was checked' faults.cu -- 'no kernel'
expect 'a refused launch that nobody sees' 1 'launch of fill: a block of \(2048.*\n(.*\n)*\nFAILED: 1 finding' faults.cu -- refused
expect 'a refused launch that the program sees' 0 'passed' faults.cu -- 'refused and seen'
expect 'a program that does not end' 1 'hint: give the program a smaller input, .*--huge.*\nFAILED: the program did not end within [34] s' faults.cu --timeout 3 -- spin
expect 'each line of a kernel' 0 'kernel fill: one launch of grid \(1,1,1\), block \(64,1,1\).*\n.*\n *faults\.cu:\d+ +global 4 B store' faults.cu --costs -- fill
expect 'what is slow whatever its accesses are' 0 'slow: kernel halve: blocks of 25 threads leave 7 of 32 lanes idle.*\(up to 1\.28x\)\nslow: kernel halve: 4225 blocks are 1 more than a wave on the 132 multiprocessors of an H200.*\(up to 2x\)\nslow: slow\.cu:\d+: double arithmetic on float data.*\(up to 2x\)' \
  slow.cu --costs
expect 'and nothing of the kind in its good twin' 0 'passed' slow.cu --costs -D GOOD
grep -q 'slow: ' <<<"$output" && { echo 'FAILED: the good twin is called slow'; failed=1; }
grep -q 'kernel halve: one launch' <<<"$output" || { echo 'FAILED: the good twin was not counted'; failed=1; }
expect 'a launch timed before its end, and atomics on one address' 0 'slow: timed\.cu:7: 32 lanes of a warp update one address.*\(up to 32x\)\nslow: timed\.cu:14: the clock is read before' \
  timed.cu --costs --order forward
expect 'and their good twin' 0 'passed' timed_well.cu --costs --order forward
grep -q 'slow: ' <<<"$output" && { echo 'FAILED: the good twin is called slow'; failed=1; }
expect 'loads that wait for stores, and data that stay in a cache' 0 'slow: serial\.cu:7: loads of kernel sum wait.*\(up to [0-9.]+x\)\nslow: serial\.cu:22: 3 launches in a row move 12 MiB.*up to 2\.4 times' \
  serial.cu --costs --order forward
expect 'their good twin' 0 'passed' serial_good.cu --costs --order forward
grep -q 'slow: ' <<<"$output" && { echo 'FAILED: the good twin is called slow'; failed=1; }
expect 'an int that counts 2^32 bytes' 1 '\[out-of-bounds\] kernel increment.* at huge\.cu:\d+: ' huge.cu --huge
expect 'an unsigned that does' 1 '\[race\] kernel increment' huge.cu --huge -D UNSIGNED
expect 'an exit code that does not count' 0 'note: the program ended with exit code 3, which does not count with --huge\npassed' faults.cu --huge --order forward -- wrong
expect 'and their good twin' 0 'last 2\n+passed: no findings \(1 launch in 4 orders of threads, large grids in part;' huge.cu --huge -D REPAIRED --json huge.json
must grep -q '"huge": true' huge.json
expect 'two streams without an order' 1 '\[race\] kernel twice reads' order.cu --order forward --json order.json -- 'read after write'
must grep -q '"kernel": "twice"' order.json
expect 'an extension of PyTorch' 1 '\[race\] kernel sum_rows<scalar_t>.* at extension\.cu:\d+' extension.cu extension_test.cpp --order forward
expect 'the same without it' 0 'right\n+passed: no findings' extension.cu extension_test.cpp -D REPAIRED --order forward
expect 'a tensor of the host in a kernel' 1 'kernel increment.* reads 4 bytes at host_tensor\.cu:7: .* not device memory' host_tensor.cu --order forward
expect 'another order' 1 '\[race\]' race.cu --order reverse --order random:7
expect 'a lock that excludes nobody' 1 '\[race\] kernel add(.*\n)*The first order of threads that shows it: --order random:1\nFAILED' lock.cu
expect 'the same without it' 0 'total 256\n+passed: no findings' lock.cu -D REPAIRED
expect 'one order' 0 'passed: no findings \(1 launch;' lock.cu --order forward

expect 'kernels that never ran, and arithmetic of a GPU' 0 'never ran: 2 of 5 kernels\n  never +coverage\.cu:29\n  no_instance +coverage\.cu:32\nfidelity: __expf, __fdividef \(correctly rounded here, approximated on a GPU\)\n\npassed' \
  coverage.cu --order forward --coverage coverage.info --json coverage.json
must grep -q '^FNDA:0,no_instance$' coverage.info
must grep -q '^FNDA:1,scale$' coverage.info
must grep -q '"ran": false' coverage.json
expect 'all ran, and nothing to say' 0 '' coverage.cu --order forward -D ALL -D EXACT
grep -qE 'never ran|__expf|__fdividef' <<<"$output" && { echo 'FAILED: what ran, or what nobody calls, is named'; failed=1; }

mkdir -p include
printf '#pragma once\n__global__ void kernel(int* out);\n' >include/kernel.h
printf '#include "kernel.h"\n__global__ void kernel(int* out) { out[threadIdx.x] = N; }\n' >kernel.cu
printf '#include "kernel.h"\nint read(const int*);\nint main() {\n  int* p;\n  cudaMallocManaged(&p, 128);\n  kernel<<<1, 32>>>(p);\n  cudaDeviceSynchronize();\n  const int n = read(p);\n  cudaFree(p);\n  return n - 5;\n}\n' >main.cu
printf 'int read(const int* p) { return p[31]; }\n' >host.cpp
expect 'several files, a folder of headers, a macro' 0 'passed' main.cu kernel.cu host.cpp -Iinclude -DN=5
sed 's/int read(/extern "C" int last(/; s/read(/last(/' main.cu >main_of_c.cu
printf '#if N != 5\n#error N\n#endif\nint last(p) const int* p; { const int* new = p; return new[31]; }\n' >host.c
expect 'a file of C' 0 'passed' main_of_c.cu kernel.cu host.c -Iinclude -DN=5 --order forward

# Called wrongly, or not a program.
expect 'no main' 2 'none of the sources has a main\(\).*\n.*kernelgrade try.*\n.*kernelgrade_add_kernel_test' kernel.cu -I include -D N=5
printf 'int main( {\n' >broken.cu
expect 'one that does not compile' 2 'broken\.cu:1:.*\n(.*\n)*kernelgrade check: it does not compile' broken.cu
expect 'no source' 2 'which program\?'
expect 'no such file' 2 'none\.cu: no such file' none.cu
expect 'no source by its name' 2 'include/kernel\.h: a source ends with \.cu' include/kernel.h
touch kernel.ptx
expect 'PTX' 2 'kernelgrade try' kernel.ptx
expect 'no such option' 2 '--nosuch' race.cu --nosuch
expect 'no such folder' 2 '-I nosuch: no such folder' race.cu -I nosuch
expect 'no such order' 2 'forward, reverse or random:SEED' race.cu --order backward
expect 'a file that cannot be written' 2 '/dev/null' race.cu --json /dev/null
expect 'another file that cannot be written' 2 '/dev/null' race.cu --coverage /dev/null
expect 'help' 0 'Examples:' --help

must grep -q '"passed": false' race.json
must grep -q '"rule": "race"' race.json
must grep -q '"line": ' race.json
must grep -q '"rule": "divergent-barrier"' divergent.json
must grep -q '"uri": "race.cu"' race.sarif
must grep -q '"relatedLocations"' race.sarif
exit $failed
