#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What did not run has not passed: ./grade with something left out, in each of five ways, must fail, and its report, badge and JUnit file
# must name the test that is missing. Runs where ./grade has built already; a folder `report` that is there is kept.
#   tests/ci/omissions.sh [OP]     default: axpy
# The omission is made by a `ctest` in front of the real one, between what ./grade lists and what it runs.
# shellcheck disable=SC2317 # `restore` is called at the end
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
op=${1:-axpy}
test=correctness.$op.f32
real_ctest=$(command -v ctest)
work=$(mktemp -d)
moved=() # file and where it was put
restore() {
  while ((${#moved[@]})); do
    mv "${moved[1]}" "${moved[0]}"
    moved=("${moved[@]:2}")
  done
  rm -rf "$work"
}
trap restore EXIT
aside() {
  moved+=("$1" "$2")
  mv "$1" "$2"
}
[[ ! -e report ]] || aside report "$work/report"

export REAL_CTEST=$real_ctest TEST=$test
mkdir "$work/bin"
cat >"$work/bin/ctest" <<'TEXT'
#!/usr/bin/env bash
# The real CTest; a run of correctness tests is preceded or followed by $OMISSION.
if [[ $OMISSION == 'disabled in CMake' ]]; then # until CMake configures again
  file=$(grep -rlF "add_test([=[$TEST]=]" build/host --include CTestTestfile.cmake)
  line="set_tests_properties([=[$TEST]=] PROPERTIES DISABLED TRUE)"
  grep -qxF "$line" "$file" || echo "$line" >>"$file"
fi
[[ " $* " == *' --output-junit '*correctness* ]] || exec "$REAL_CTEST" "$@"
result=$("$REAL_CTEST" --test-dir build/host --show-only=json-v1 -R "^$TEST\$" | grep -oE '/[^"]*/results/[^"]+[.]json' | sort -u)
program=$("$REAL_CTEST" --test-dir build/host --show-only=json-v1 -R "^$TEST\$" | grep -oE '"/[^"]*_test"' | tr -d '"' | sort -u)
[[ -n $result && -x $program ]] || { echo "what does $TEST run and leave? $program, $result"; exit 99; }
case $OMISSION in
  'no executable')
    mv "$program" "$program.aside"
    "$REAL_CTEST" "$@"
    code=$?
    mv "$program.aside" "$program"
    exit $code
    ;;
  'killed half-way')
    "$REAL_CTEST" "$@" &
    pid=$!
    # The result of one type is there, that of the last is not.
    until compgen -G "${result%.*.json}.*.json" >/dev/null || ! kill -0 $pid; do sleep 0.02; done
    kill -KILL $pid
    wait $pid
    exit
    ;;
esac
"$REAL_CTEST" "$@"
code=$?
case $OMISSION in
  'no result') rm "$result" ;;
  'an empty result') : >"$result" ;;
esac
exit $code
TEXT
chmod +x "$work/bin/ctest"

failed=0
# grade OMISSION: its output goes to a file, its exit code to `code`.
grade() {
  code=0
  PATH=$work/bin:$PATH OMISSION=$1 ./grade "$op" --fresh --backend host >"$work/out" 2>&1 || code=$?
}

# outcome OMISSION MISSING...: what should have been there and was not.
outcome() {
  local what=$1
  shift
  if (($# == 0)); then
    printf 'ok: %s: exit code %d; %s\n' "$what" "$code" "$(if [[ -e report/summary.md ]]; then sed -n '1s/^## //p' report/summary.md; else tail -n 1 "$work/out"; fi)"
    return
  fi
  failed=1
  printf 'FAILED: %s: this is missing: %s\n' "$what" "$(printf '%s; ' "$@")"
  tail -n 20 "$work/out"
  head -n 12 report/summary.md
}

# omit OMISSION STATE: what the report must say of the test.
omit() {
  local missing=()
  grade "$1"
  ((code == 1)) || missing+=("exit code 1, not $code")
  grep -qF "FAILED: $test $2" report/summary.md || missing+=("\"FAILED: $test $2\" in summary.md")
  grep -qE '"color": *"red"' report/badge.json || missing+=('a red badge.json')
  grep -A 1 "name=\"$test\" time=" report/junit.xml | grep '<failure' >/dev/null || missing+=('a failure in junit.xml')
  outcome "$1" "${missing[@]}"
}

# What failed, all types' tests, is repeated alone; then nothing has failed last.
repeat() {
  local missing=()
  code=0
  ./grade test --failed --backend host >"$work/out" 2>&1 || code=$?
  ((code == 0)) || missing+=("exit code 0, not $code")
  grep -qF "$test" build/host/grade/failed.log || missing+=("$test in failed.log")
  grep -q "^100% tests passed, 0 tests failed out of [0-9]\$" "$work/out" || missing+=('few tests that ran')
  ./grade test --failed --backend host | grep '^No test failed when it last ran' >/dev/null || missing+=('no failed test in the end')
  outcome './grade test --failed' "${missing[@]}"
}

omit 'no executable' 'not run'
grep -qF 'again, what failed: ./grade test --failed' "$work/out" || outcome 'no executable' 'how to repeat it'
repeat
omit 'no result' 'without a result'
omit 'an empty result' 'without a result'
omit 'killed half-way' 'not run'
omit 'disabled in CMake' 'disabled'
grade nothing
if ((code == 0)); then outcome nothing; else outcome nothing "exit code 0"; fi
exit $failed
