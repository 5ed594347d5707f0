#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# sarif.sh KERNELGRADE SOURCE: what `kernelgrade check` writes is as the schemas want it: --sarif that of SARIF 2.1.0, --json ours.
# 77: nothing validates it.
set -uo pipefail
kernelgrade=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/tests/unit/perf/cli/check/programs/* "$source"/examples/check/* "$work"
cd "$work" || exit 1

# valid CODE ARGUMENT...: the file of a program that is checked so.
valid() {
  local code=$1 got=0
  shift
  "$kernelgrade" check --sarif file.sarif --json file.json "$@" >said.txt 2>&1 || got=$?
  ((got == code)) || { printf 'FAILED: %s: exit code %d, not %d:\n' "$*" $got "$code"; cat said.txt; exit 1; }
  got=0
  python3 "$source/tests/unit/perf/cli/check/validate.py" "$source/tests/unit/perf/cli/check/sarif-schema-2.1.0.json" file.sarif || got=$?
  ((got != 0)) || python3 "$source/tests/unit/perf/cli/check/validate.py" "$source/docs/schemas/check-1.json" file.json || got=$?
  ((got == 0)) || exit $got
  echo "ok: $*"
}

valid 0 race.cu -D REPAIRED --costs
valid 1 race.cu
valid 0 faults.cu -- leak
valid 1 faults.cu -- refused
valid 1 faults.cu -- wrong
mkdir 'a folder'
cp race.cu 'a folder/räce 1.cu'
valid 1 'a folder/räce 1.cu'
grep -q '"uri": "a%20folder/r%C3%A4ce%201.cu"' file.sarif || { echo 'FAILED: no such file in file.sarif'; exit 1; }
sed -i 's/"version": "2.1.0"/"version": "2.0"/' file.sarif
if python3 "$source/tests/unit/perf/cli/check/validate.py" "$source/tests/unit/perf/cli/check/sarif-schema-2.1.0.json" file.sarif >/dev/null; then
  echo 'FAILED: a wrong file is valid'
  exit 1
fi
sed -i 's/"launches": /"lunches": /' file.json
if python3 "$source/tests/unit/perf/cli/check/validate.py" "$source/docs/schemas/check-1.json" file.json >/dev/null; then
  echo 'FAILED: a wrong file is valid'
  exit 1
fi
