# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of and for the sourcing scripts
#
# Sourced by .ci/gpu and run_unit. Records progress in $results, the only folder that moves from one machine to the next:
#   done.tsv      a line per unit of work when it ends: visit, unit, outcome, seconds, note; the last line of a unit counts
#   summary.txt   a summary, the remaining work, and the command for it
#   <pack>.tar    files of units that ended: logs (and JUnit, ceilings, the report), rows, rounds (and baselines)
#   <visit>.<unit>.json, .json.journal   the current pass, which `kernelgrade` writes after each row
# A unit's results are packed before its line is written, so a unit with a line always has its results.

readonly kMostBytes=$((16 << 20)) # size limit of one file from a borrowed machine
readonly kPacks='logs rows rounds'

# record VISIT UNIT OUTCOME SECONDS [NOTE]: the outcome is passed, failed or skipped; or pending, still to be done; or alone, tests of the
# unit are still to be run alone.
record() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$results/done.tsv"
}

# outcomes VISIT: "<unit>\t<outcome>\t<seconds>\t<note>" of each unit with an outcome, in the order of their first lines.
outcomes() {
  [[ -e $results/done.tsv ]] || return 0
  awk -F'\t' -v visit="$1" '$1 == visit && NF == 5 {
    if (!($2 in line)) order[++n] = $2
    line[$2] = $2 "\t" $3 "\t" $4 "\t" $5
  } END { for (i = 1; i <= n; i++) print line[order[i]] }' "$results/done.tsv"
}

# left VISIT: the visit's units that are not done; for a group of `next`, the units of that group.
left() {
  local visit=$1
  awk -F'\t' 'NR == FNR { done[$1] = 1; next } !($1 in done)' <(outcomes "$visit" | awk -F'\t' '$2 != "pending"'; echo ' ') <(if [[ -n ${group:-} && " $group_stages " == *" $visit "* ]]; then echo "$group"; else "units_$visit"; fi)
}

# count VISIT OUTCOME
count() { outcomes "$1" | awk -F'\t' -v outcome="$2" '$2 == outcome' | wc -l; }

# Drops the line that was being written when a machine stopped.
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

# same WHAT VALUE: fails unless the results are of this source and device; names the ones they are of.
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

# publish PACK...: copies these packs and the summary to the results. A lock serializes parallel units.
publish() {
  ((dry_run == 0)) || return 0
  (
    flock 9
    for name in "$@"; do pack "$name"; done
    summary >"$results/summary.txt.new"
    mv "$results/summary.txt.new" "$results/summary.txt"
  ) 9>"$work/publish.lock"
}

# keep PACK FILE NAME: adds a file to a pack atomically; of a long log it keeps both ends, which people read.
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
