#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# stranger.sh SOURCE PATH EMULATOR: what somebody does first who has installed `kernelgrade` on PATH, in an empty folder and with a clean
# environment. Of SOURCE, this project, the folder has examples alone. EMULATOR: 1, or 0 where nvcc's headers were missing for it.
set -euo pipefail
source=$(realpath "$1") path=$2 emulator=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source/examples/check/race.cu" "$source/tests/unit/perf/cli/candidate/softmax.cu" "$source/examples/emulate/test_scale.py" "$work"
cd "$work"
clean=(env -i HOME="$work" PATH="$path")
# expect WHAT CODE PATTERN COMMAND...: the command's exit code and output, and how long it took.
expect() {
  local what=$1 code=$2 pattern=$3 got=0 begin=$EPOCHREALTIME
  shift 3
  "${clean[@]}" "$@" >said.txt 2>&1 || got=$?
  if ((got != code)) || ! grep -qE -- "$pattern" said.txt; then
    cat said.txt
    printf 'FAILED: %s: exit code %s, not %s, or nothing matches %s\n' "$what" "$got" "$code" "$pattern"
    exit 1
  fi
  awk -v a="$begin" -v b="$EPOCHREALTIME" -v what="$what" 'BEGIN { printf "ok: %s (%.1f s)\n", what, b - a }'
}
expect 'check finds the race' 1 '\[race\] kernel reverse_chunks.* at race\.cu:18' kernelgrade check race.cu
expect 'check of the repaired program' 0 'passed: no findings' kernelgrade check race.cu -D REPAIRED
expect 'check --costs' 0 'global 4 B store' kernelgrade check race.cu -D REPAIRED --costs
expect 'the list of operations' 0 'softmax_backward' kernelgrade list
expect 'try' 0 'passed: correct and safe' kernelgrade try softmax softmax.cu
expect 'doctor names the compiler' 0 'compiler of check and try: .*g\+\+ 1[0-9]' sh -c 'kernelgrade doctor; true'
((emulator)) || exit 0
# The example is a test; its kernel and its driver calls need no pytest.
cat >scale.py <<'END'
import ctypes, sys, unittest.mock
sys.modules["pytest"] = unittest.mock.MagicMock()
import test_scale
n = int(sys.argv[1])
x = (ctypes.c_float * n)(*range(n))
test_scale.Gpu().launch(test_scale.PTX, b"scale", (n + 127) // 128, 128, x)
print("right" if list(x) == [2 * i for i in range(n)] else "wrong")
END
expect 'emulate' 0 '^right' kernelgrade emulate -- python3 scale.py 256
expect 'emulate --checked' 1 '\[out-of-bounds\] kernel scale' kernelgrade emulate --checked -- python3 scale.py 300
expect 'emulate --counts' 0 '^right' kernelgrade emulate --counts counts.json -- python3 scale.py 256
expect 'the counts' 0 'scale' cat counts.json
