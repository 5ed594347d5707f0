# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu and run_unit: which test programs have passed on this kind of GPU, whenever that was. It lies beside the GPU's baselines,
# which a visit brings and leaves: baselines/<gpu>/correctness.csv, a line per program with its commit and a hash of its kernels.

readonly kRecordHeader=program,commit,kernels

# The name of the GPU as the folder of its baselines has it (kernels/runtime/device_slug.cpp).
device_slug() { outcomes device | cut -f1 | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed -E 's/[^a-z0-9]+/-/g; s/^-|-$//g'; }
record_file() { echo "$work/rounds/baselines/$(device_slug)/correctness.csv"; }

# recorded: the lines that can be read; of any other its program has never run.
recorded() {
  local file
  file=$(record_file)
  [[ -f $file && $(sed -n 1p "$file") == "$kRecordHeader" ]] || return 0
  grep -E '^[a-z0-9_]+\.[a-z0-9]+,[0-9a-z-]+,[0-9a-f]{12}$' "$file" || true
}

# known_programs: "<program> <n>" of all, most worth first: 0 where it has never passed on this kind of GPU, 1 where its kernels were other ones
# (or nobody knows which), 2 where they were the same.
known_programs() {
  [[ -e $tree/tests.txt ]] || return 0
  awk -F'[ ,]' '
    of == "record" { has_passed[$1] = 1; kernels[$1] = $3; next }
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

# record_passed: what has passed in these results goes into the record.
record_passed() {
  local file
  file=$(record_file)
  [[ -n $(device_slug) && -e $tree/tests.txt ]] || return 0
  mkdir -p "$(dirname "$file")"
  {
    echo "$kRecordHeader"
    awk -F'[ ,\t]' -v commit="$(outcomes source | cut -f1)" '
      of == "record" { line[$1] = $0; next }
      of == "tests" { if ($3 != "") kernels[$1 "." $2] = $3; next }
      $2 == "passed" && $1 in kernels { line[$1] = $1 "," commit "," kernels[$1] }
      END { for (program in line) print line[program] }' of=record <(recorded) of=tests "$tree/tests.txt" of=outcomes <(outcomes correctness) |
      LC_ALL=C sort
  } >"$file.new"
  mv "$file.new" "$file"
}
