# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of those who source this, and for them
#
# Sourced by .ci/gpu and run_unit. What is done, in $results, which is all that goes on from one machine to the next:
#   done.tsv      a line per unit of work as it ends: visit, unit, outcome, seconds, note; the last line of a unit counts
#   summary.txt   what that says, what is left, and the command for it
#   <pack>.tar    what ended units left: logs (and JUnit, ceilings, the report), rows, rounds (and baselines)
#   <visit>.<unit>.json, .json.journal   the pass that is being measured, which `kernelgrade` writes after each row
# A unit's results are packed before its line is written, so whatever has a line has its results, too.

readonly kMostBytes=$((16 << 20)) # of one file that comes back from a borrowed machine
readonly kPacks='logs rows rounds'

# record VISIT UNIT OUTCOME SECONDS [NOTE]: the outcome is passed, failed or skipped; pending
# is to be done; alone: tests of it are still to be run alone.
record() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$results/done.tsv"
}

# outcomes VISIT: "<unit>\t<outcome>\t<seconds>\t<note>" of each unit that has one, in the order of their first lines.
outcomes() {
  [[ -e $results/done.tsv ]] || return 0
  awk -F'\t' -v visit="$1" '$1 == visit && NF == 5 {
    if (!($2 in line)) order[++n] = $2
    line[$2] = $2 "\t" $3 "\t" $4 "\t" $5
  } END { for (i = 1; i <= n; i++) print line[order[i]] }' "$results/done.tsv"
}

# left VISIT: those of its units that are not done; of a group of `next` its own.
left() {
  local visit=$1
  awk -F'\t' 'NR == FNR { done[$1] = 1; next } !($1 in done)' <(outcomes "$visit" | awk -F'\t' '$2 != "pending"'; echo ' ') <(if [[ -n ${group:-} && " $group_stages " == *" $visit "* ]]; then echo "$group"; else "units_$visit"; fi)
}

# count VISIT OUTCOME
count() { outcomes "$1" | awk -F'\t' -v outcome="$2" '$2 == outcome' | wc -l; }

# What was being written when a machine went away does not count.
repair_journal() {
  [[ -s $results/done.tsv ]] || return 0
  [[ -z $(tail -c 1 "$results/done.tsv") ]] || { sed '$d' "$results/done.tsv" >"$work/done.tsv"; cp "$work/done.tsv" "$results/done.tsv"; }
}

# forget_failures VISIT: --again.
forget_failures() {
  [[ -e $results/done.tsv ]] || return 0
  local failed
  failed=$(outcomes "$1" | awk -F'\t' '$2 == "failed" { print $1 }')
  awk -F'\t' -v visit="$1" -v failed="$failed" 'BEGIN { n = split(failed, names, "\n"); for (i = 1; i <= n; i++) again[names[i]] = 1 }
    !($1 == visit && $2 in again)' "$results/done.tsv" >"$results/done.tsv.new"
  mv "$results/done.tsv.new" "$results/done.tsv"
}

# same WHAT VALUE: the results are all of one source and one device; says which others they are of.
same() {
  local known
  known=$(outcomes "$1" | cut -f1)
  if [[ -z $known ]]; then
    record "$1" "$2" passed 0
  elif [[ $known != "$2" ]]; then
    printf '%s holds results of the %s %s, and this is %s: give another --out\n' "$results" "$1" "$known" "$2" >&2
    return 1
  fi
}

unpack() {
  local name
  for name in $kPacks; do
    rm -rf "${work:?}/$name"
    mkdir -p "$work/$name"
    [[ ! -e $results/$name.tar ]] || tar -xf "$results/$name.tar" -C "$work"
  done
}

pack() {
  tar -cf "$results/$1.tar.new" -C "$work" "$1"
  mv "$results/$1.tar.new" "$results/$1.tar"
}

# publish PACK...: these packs and the summary as they are now. Units that run side by side take turns.
publish() {
  ((dry_run == 0)) || return 0
  (
    flock 9
    for name in "$@"; do pack "$name"; done
    summary >"$results/summary.txt.new"
    mv "$results/summary.txt.new" "$results/summary.txt"
  ) 9>"$work/publish.lock"
}

# keep PACK FILE NAME: a file into a pack, whole or not at all; of a log the two ends, which are what a person reads.
keep() {
  local part=$work/kept.$BASHPID ending=xz
  if [[ $3 == *.log ]]; then
    ending=gz
    if (($(stat -c %s "$2") <= 40000)); then cat "$2"; else head -c 20000 "$2"; printf '\n[...]\n'; tail -c 20000 "$2"; fi | gzip -c >"$part"
  else
    xz -T1 -2 -c "$2" >"$part"
  fi
  mv "$part" "$work/$1/$3.$ending"
}
