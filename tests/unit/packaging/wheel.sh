#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# wheel.sh WHEEL SOURCE EMULATOR: installs the wheel into a new environment and uses it there (stranger.sh). SOURCE: this project.
set -euo pipefail
wheel=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}
python=$(PATH=/usr/bin:/bin type -P python3)
env -i PATH=/usr/bin:/bin "$python" -m venv --without-pip venv
python3 -m pip --python venv install --no-index --no-deps "$wheel" >install.txt || { cat install.txt; fail 'pip install'; }
bash "$source/tests/unit/packaging/stranger.sh" "$source" "$work/venv/bin:/usr/bin:/bin" "$3"
mkdir empty
for tool in bash sh basename dirname env mkdir rm cat; do ln -s "$(type -P $tool)" empty; done
cp "$source/examples/check/race.cu" .
# without WHAT CODE PATTERN COMMAND...: on a machine without g++.
without() {
  local what=$1 code=$2 pattern=$3 got=0
  shift 3
  env -i HOME="$work" PATH="$work/empty" "$@" >said.txt 2>&1 || got=$?
  if ((got != code)) || ! grep -qE -- "$pattern" said.txt; then
    cat said.txt
    fail "$what without g++: exit code $got, not $code, or nothing matches $pattern"
  fi
  echo "ok: $what without g++"
}
without doctor 0 'check and try cannot compile: .*there is no g\+\+' sh -c "'$work/venv/bin/kernelgrade' doctor; true"
without check 2 'there is no g\+\+, which compiles kernels' "$work/venv/bin/kernelgrade" check race.cu
# What the programs and the emulator load comes from the wheel, from g++ and from glibc.
shopt -s globstar
for file in venv/lib/python3*/site-packages/kernelgrade/{bin/kernelgrade*,lib/emulate/**/*.so.*}; do
  foreign=$(ldd "$file" | awk '$2 == "=>" { print $3 }' | grep -vE "^$work|/lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so" || true)
  [[ -z $foreign ]] || fail "$(basename "$file") loads $foreign"
  ! ldd "$file" | grep 'not found' || fail "$(basename "$file") lacks a library"
done
echo 'ok: no library of this machine but those of g++ and glibc'
du -sh venv/lib/python3*/site-packages/kernelgrade | awk '{ print "installed: " $1 }'
