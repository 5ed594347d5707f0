# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by run_unit and .ci/gpu: runs test programs, several at a time on one GPU, and runs tests alone after an error that affects later
# tests.

# Errors after which every further CUDA call of the process fails (CUDA Runtime API, "cudaError").
readonly kSticky='illegal memory access|misaligned address|unspecified launch failure|illegal instruction|device-side assert|hardware stack error|invalid program counter|launch timed out|context is destroyed|uncorrectable ECC'
readonly kMemory='out of memory|needs [0-9]+ MiB of device memory'

# seen LOG: "<outcome>\t<test>\t<1 if out of memory>" of each test that GoogleTest started.
seen() {
  awk -v memory="$kMemory" '
    /^\[ RUN      \] / { test = $4; scarce = 0; next }
    test == "" { next }
    $0 ~ memory { scarce = 1 }
    /^\[       OK \] / { print "passed\t" test "\t0"; test = "" }
    /^\[  FAILED  \] / { print "failed\t" test "\t" scarce; test = "" }
    /^\[  SKIPPED \] / { print "skipped\t" test "\t" scarce; test = "" }
    END { if (test != "") print "crashed\t" test "\t" scarce }' "$1"
}

# tests_of PROGRAM DTYPE
tests_of() {
  "$1" --dtype "$2" --gtest_list_tests | awk '/^[^ ].*\./ { suite = $1; next } /^  / { print suite $1 }'
}

# tests_to_run_alone PROGRAM DTYPE LOG CODE: "<why>", then one test per line; nothing if the failures are the tests' own.
tests_to_run_alone() {
  local log=$3 code=$4 why=''
  if grep -Eq "$kSticky" "$log"; then
    why=sticky
  elif ((code == 124 || code == 137)); then
    why=slow
  elif ((code > 128)) || [[ $(seen "$log") == *crashed$'\t'* ]]; then
    why=crash
  fi
  if [[ -n $why ]]; then
    echo $why
    # If the program cannot list its tests, the error must still be reported.
    awk -F'\t' 'NR == FNR { if ($1 == "passed" || ($1 == "skipped" && !$3)) done[$2] = 1; next } !($1 in done)' \
      <(seen "$log"; printf '\t \t\n') <(tests_of "$1" "$2" || seen "$log" | cut -f2)
  elif seen "$log" | awk -F'\t' '$3 { found = 1 } END { exit !found }'; then
    echo memory
    seen "$log" | awk -F'\t' '$3 { print $2 }'
  fi
}

# what_failed LOG CODE
what_failed() {
  local names
  names=$(seen "$1" | awk -F'\t' '$1 == "failed" || $1 == "crashed" { print $2 }' | sed -n 1,5p | paste -sd' ')
  if [[ -n $names ]]; then
    echo "$names"
  elif grep -q '^missing evidence' "$1"; then
    echo "$(grep -c '^missing evidence' "$1") times missing evidence"
  else
    echo "exit code $2: $(tail -n 1 "$1" | tr '\t' ' ' | cut -c1-120)"
  fi
}

# correctness <op>.<dtype>
unit_correctness() {
  local unit=$1 op=${1%.*} dtype=${1##*.} folder code=0 begin=$SECONDS alone=() test
  folder=$(mktemp -d "$work/running.XXXXXX")
  if [[ ! -x "$tree"/${op}_test ]]; then
    done_unit logs correctness "$unit" failed 0 'its program was not built'
    return
  fi
  bounded "$test_limit" "$tree/${op}_test" --dtype "$dtype" "--gtest_output=json:$folder/results.json" >"$folder/log" 2>&1 || code=$?
  ! cut_off $code || return 0
  keep logs "$folder/log" "correctness.$unit.log"
  [[ ! -s $folder/results.json ]] || keep logs "$folder/results.json" "correctness.$unit.json"
  mapfile -t alone < <(tests_to_run_alone "$tree/${op}_test" "$dtype" "$folder/log" $code)
  local seconds=$((SECONDS - begin))
  if ((${#alone[@]} > 0)); then
    for test in "${alone[@]:1}"; do record alone "$unit:$test" pending 0 "${alone[0]}"; done
    done_unit logs correctness "$unit" alone $seconds "${alone[0]}"
  elif ((code == 0)); then
    done_unit logs correctness "$unit" passed $seconds "$(seen "$folder/log" | cut -f1 | sort | uniq -c | xargs)"
  elif ((code == 77)); then
    done_unit logs correctness "$unit" skipped $seconds "$(grep -m1 -i skipped "$folder/log" | cut -c1-120)"
  else
    done_unit logs correctness "$unit" failed $seconds "$(what_failed "$folder/log" $code)"
  fi
  rm -rf "$folder"
}

# alone <op>.<dtype>:<test>
unit_alone() {
  local unit=$1 program=${1%%:*} test=${1#*:} code=0 begin=$SECONDS log outcome=failed
  log=$(mktemp "$work/running.XXXXXX")
  bounded $((test_limit < 120 ? test_limit : 120)) "$tree/${program%.*}_test" "--gtest_filter=$test" >"$log" 2>&1 || code=$?
  ! cut_off $code || return 0
  case $code in
    0) outcome=passed ;;
    77) outcome=skipped ;;
  esac
  [[ $outcome == passed ]] || keep logs "$log" "alone.${unit//[:\/]/_}.log"
  done_unit logs alone "$unit" $outcome $((SECONDS - begin)) "$([[ $outcome == passed ]] || what_failed "$log" $code)"
  rm -f "$log"
}

# settle_alone: derives the programs' outcomes from the tests that ran alone.
settle_alone() {
  local unit why seconds outcome note
  while IFS=$'\t' read -r unit _ seconds why; do
    outcomes alone | awk -F'\t' -v unit="$unit:" 'index($1, unit) == 1' >"$work/alone.tsv"
    ! cut -f2 "$work/alone.tsv" | grep -x pending >/dev/null || continue
    note=$(awk -F'\t' '$2 == "failed" { sub(/^[^:]*:/, "", $1); print $1 }' "$work/alone.tsv" | sed -n 1,5p | paste -sd' ')
    outcome=failed
    if [[ -n $note ]]; then
      note="$why; alone, too: $note"
    elif [[ $why == sticky || $why == crash ]]; then
      note="$why; each test passes alone, so it takes several to fail"
    elif [[ -n $(awk -F'\t' '$2 == "skipped"' "$work/alone.tsv") ]]; then
      outcome=skipped note="$why; $(grep -c $'\tskipped\t' "$work/alone.tsv") tests are skipped alone, too"
    else
      outcome=passed note="$why; $(wc -l <"$work/alone.tsv") tests ran alone; evidence not judged as a whole"
    fi
    record correctness "$unit" $outcome "$seconds" "$note"
  done < <(outcomes correctness | awk -F'\t' '$2 == "alone"')
}

# sanitize <tool>.<op> (tests/sanitize.sh)
unit_sanitize() {
  local unit=$1 tool=${1%%.*} op=${1#*.} code=0 begin=$SECONDS log outcome=failed
  log=$(mktemp "$work/running.XXXXXX")
  bounded 240 tests/sanitize.sh "$tool" "$tree/${op}_test" >"$log" 2>&1 || code=$?
  ! cut_off $code || return 0
  case $code in
    0) outcome=passed ;;
    77) outcome=skipped ;;
  esac
  keep logs "$log" "$unit.log"
  done_unit logs sanitize "$unit" $outcome $((SECONDS - begin)) "$(grep -h 'SUMMARY' "$log" || tail -n 1 "$log" | tr '\t' ' ' | cut -c1-120)"
  rm -f "$log"
}

# junit: the programs' outcomes as JUnit XML.
junit() {
  local unit outcome seconds note
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="correctness" tests="%d" failures="%d" skipped="%d">\n' \
    "$(outcomes correctness | wc -l)" "$(count correctness failed)" "$(count correctness skipped)"
  outcomes correctness | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' | while IFS=$'\t' read -r unit outcome seconds note; do
    printf '  <testcase classname="correctness" name="%s" time="%s">' "$unit" "$seconds"
    case $outcome in
      failed) printf '<failure message="%s"/>' "$note" ;;
      skipped) printf '<skipped message="%s"/>' "$note" ;;
      alone) printf '<error message="not done: %s"/>' "$note" ;;
    esac
    printf '</testcase>\n'
  done
  printf '</testsuite>\n'
}
