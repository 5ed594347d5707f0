#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# wheel.sh WHEEL SOURCE: a stranger installs the wheel and looks for a race. The environment is new, the folder empty, and of SOURCE, this
# project, he has the examples alone.
set -euo pipefail
wheel=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source/examples/check/race.cu" "$source/tests/unit/perf/cli/candidate/softmax.cu" "$work"
cd "$work"
clean=(env -i HOME="$work" PATH="$work/venv/bin:/usr/bin:/bin")
fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}
# seconds WHAT CODE PATTERN COMMAND...: the command's exit code and output, and how long it took.
seconds() {
  local what=$1 code=$2 pattern=$3 got=0 begin=$EPOCHREALTIME
  shift 3
  "${clean[@]}" "$@" >said.txt 2>&1 || got=$?
  if ((got != code)) || ! grep -qE -- "$pattern" said.txt; then
    cat said.txt
    fail "$what: exit code $got, not $code, or nothing matches $pattern"
  fi
  awk -v a="$begin" -v b="$EPOCHREALTIME" -v what="$what" 'BEGIN { printf "ok: %s (%.1f s)\n", what, b - a }'
}

python=$(PATH=/usr/bin:/bin type -P python3)
"${clean[@]}" "$python" -m venv --without-pip venv 2>/dev/null || fail "no venv by $python"
begin=$EPOCHREALTIME
seconds 'pip install' 0 '' "$(type -P python3)" -m pip --python venv install --no-index --no-deps "$wheel"
seconds 'check finds the race' 1 '\[race\] kernel reverse_chunks.* at race\.cu:18' kernelgrade check race.cu
awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "from pip install to the race: %.1f s\n", b - a }'
seconds 'check of the repaired program' 0 'passed: no findings' kernelgrade check race.cu -D REPAIRED
seconds 'check --costs' 0 'global 4 B store' kernelgrade check race.cu -D REPAIRED --costs
seconds 'the list of operations' 0 'softmax_backward' kernelgrade list
seconds 'try' 0 'passed: correct and safe' kernelgrade try softmax softmax.cu
seconds 'doctor names the compiler' 0 'compiler of check and try: g\+\+ 1[0-9]' sh -c 'kernelgrade doctor; true'
mkdir empty
for tool in bash sh basename dirname env mkdir rm cat; do ln -s "$(type -P $tool)" empty; done
seconds 'doctor without g++' 0 'check and try cannot compile: .*there is no g\+\+' env PATH="$work/empty" sh -c "'$work/venv/bin/kernelgrade' doctor; true"
seconds 'check without g++' 2 'there is no g\+\+, which compiles kernels' env PATH="$work/empty" "$work/venv/bin/kernelgrade" check race.cu
# What the programs load comes from the wheel, from g++ and from glibc.
for file in venv/lib/python3*/site-packages/kernelgrade/bin/kernelgrade*; do
  foreign=$(ldd "$file" | awk '$2 == "=>" { print $3 }' | grep -vE "^$work|/lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so" || true)
  [[ -z $foreign ]] || fail "$(basename "$file") loads $foreign"
  ! ldd "$file" | grep 'not found' || fail "$(basename "$file") lacks a library"
done
echo 'ok: no library of this machine but those of g++ and glibc'
du -sh venv/lib/python3*/site-packages/kernelgrade | awk '{ print "installed: " $1 }'
