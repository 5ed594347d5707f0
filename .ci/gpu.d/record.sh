# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu and run_unit: all work done so far on this kind of GPU. The record is stored with the GPU's baselines, so each visit
# brings it and updates it. baselines/<gpu>/done.csv has a line per unit of work with its latest outcome, seconds, commit and kernel hash
# (`timed` and `blessed`: <op>.<dtype>.<mode>, one process and ten). visits.csv lists each commit that ran there, the latest last.

readonly kRecordHeader=visit,unit,outcome,seconds,commit,kernels kVisitsHeader=commit,date,driver

# The GPU's name as in its baselines folder (kernels/runtime/device_slug.cpp); a plan for another GPU uses that GPU's name.
device_slug() {
  [[ -z ${gpu:-} ]] || { echo "$gpu"; return; }
  outcomes device | cut -f1 | slug
}
slug() { LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed -E 's/[^a-z0-9]+/-/g; s/^-|-$//g'; }
# folder_of WORD: the baselines folder of that kind of GPU, such as h200; a new one if there is none.
folder_of() {
  local folder
  for folder in baselines/*"$1"*; do [[ ! -d $folder ]] || { basename "$folder"; return; }; done
  echo "nvidia-${1#nvidia-}"
}
record_file() { echo "$work/rounds/baselines/$(device_slug)/done.csv"; }

# recorded: the valid lines; a unit with an invalid line counts as never run.
recorded() {
  local file
  file=$(record_file)
  [[ -f $file && $(sed -n 1p "$file") == "$kRecordHeader" ]] || return 0
  grep -E '^[a-z]+,[A-Za-z0-9_.-]+,(passed|failed|hung),[0-9]*,[0-9a-z-]+,([0-9a-f]{12})?$' "$file" || true
}

# known_programs: "<program> <n>" of all, most valuable first. 0: it never passed on this kind of GPU; 1: it passed with other kernels (or
# the kernels are unknown); 2: it passed with the same kernels.
known_programs() {
  [[ -e $tree/tests.txt ]] || return 0
  awk -F'[ ,]' '
    of == "record" { if ($1 == "correctness" && $3 == "passed") { has_passed[$2] = 1; kernels[$2] = $6 } next }
    of == "tests" { types[$1] = types[$1] " " $2; now[$1] = $3; next }
    { n = split(types[$1], dtypes, " ")
      for (i = 1; i <= n; i++) {
        program = $1 "." dtypes[i]
        print program, !(program in has_passed) ? 0 : now[$1] == "" || kernels[program] != now[$1] ? 1 : 2
      } }' of=record <(recorded) of=tests "$tree/tests.txt" of=worth <(by_worth)
}

# never_passed: for the summary.
never_passed() {
  local programs
  programs=$(known_programs)
  [[ -n $programs ]] || return 0
  awk -v gpu="$(device_slug)" '$2 == 0 { never++; names = names " " $1 }
    END { printf "%d of %d test programs have never passed on %s%s\n", never, NR, gpu == "" ? "this GPU" : gpu, never ? ":" names : "" }' <<<"$programs"
}

# record_done: adds the finished units of these results to the record.
record_done() {
  local file source visits
  file=$(record_file) source=$(outcomes source | cut -f1) visits=${file%/*}/visits.csv
  [[ -n $(device_slug) && -e $tree/tests.txt && -e $results/done.tsv ]] || return 0
  mkdir -p "${file%/*}"
  {
    echo "$kRecordHeader"
    awk -v commit="$source" '
      BEGIN { split("correctness timed blessed models scaling peers gate calibrate sanitize ceilings instructions profile", names, " ")
        for (i in names) kept[names[i]] = 1 }
      of == "record" { split($0, field, ","); line[field[1] "," field[2]] = $0; next }
      of == "tests" { kernels[$1] = $3; next }
      split($0, field, "\t") >= 4 && field[1] in kept && field[3] ~ /^(passed|failed|hung)$/ {
        op = field[2]
        if (field[1] == "sanitize") sub(/^[^.]*[.]/, "", op)
        sub(/[.].*/, "", op)
        line[field[1] "," field[2]] = field[1] "," field[2] "," field[3] "," field[4] "," commit "," kernels[op]
      }
      END { for (unit in line) print line[unit] }' of=record <(recorded) of=tests "$tree/tests.txt" of=outcomes "$results/done.tsv" |
      LC_ALL=C sort
  } >"$file.new"
  mv "$file.new" "$file"
  [[ -e $visits ]] || echo "$kVisitsHeader" >"$visits"
  grep -q "^$source," "$visits" || printf '%s,%s,%s\n' "$source" "$(date -u +%F)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sed -n 1p)" >>"$visits"
}
