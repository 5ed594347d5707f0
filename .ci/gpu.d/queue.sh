# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of .ci/gpu, and for it
#
# Sourced by .ci/gpu: the visit `next`, which fills its budget with the most valuable work (queue.awk) that never ran on this kind of GPU or
# whose kernels have changed.

readonly kSmoke=12 # seconds on an H200

# programs_known: "<op> <dtype> <hash>"; for a plan in an unbuilt source tree, from CMake.
programs_known() {
  local op hash dtype
  [[ ! -s $tree/tests.txt ]] || { cat "$tree/tests.txt"; return; }
  while read -r op dtypes; do
    hash=$(hash_of_kernels "$op")
    for dtype in $dtypes; do echo "$op $dtype $hash"; done
  done < <(sed -nE 's/^kernelgrade_add_op\(([a-z0-9_]+) .*DTYPES((( [a-z][a-z0-9]*)+)).*/\1\2/p' CMakeLists.txt)
}

models_known() {
  if [[ -s $tree/models.txt ]]; then units_models; else list_models build/host | awk '$2 == "large" { print $1 }' | tac; units_layers; fi
}

# queue: all remaining work, most valuable first.
queue() {
  local file own
  own=$(record_file)
  [[ -r .ci/gpu.d/first.txt && -r .ci/gpu.d/ops.txt ]] || { echo '.ci/gpu.d/first.txt or ops.txt is missing' >&2; return 1; }
  programs_known >"$work/programs.txt"
  for file in baselines/*/done.csv; do [[ ! -e $file || $file -ef baselines/$(device_slug)/done.csv ]] || cat "$file"; done >"$work/others.csv"
  # shellcheck disable=SC2094 # the words are names
  awk -v source="$source_id" -f .ci/gpu.d/queue.awk of=record <(cat "$own" 2>/dev/null) of=others "$work/others.csv" \
    of=finished <(cat "$results/done.tsv" 2>/dev/null) of=tests "$work/programs.txt" of=worth <(by_worth) \
    of=first <(grep -v '^#' .ci/gpu.d/first.txt) of=models <(models_known) of=scaling <(units_scaling) of=peers <(units_peers) \
    of=gate <(units_gate) of=calibrate <(units_calibrate) of=sanitize <(units_sanitize) \
    of=modes <(printf '%s\n' f32.hot f32.graph f32.real) of=ceilings <(units_ceilings) \
    of=instructions <(units_instructions) of=profile <(units_profile)
}

# plan SECONDS: the units of the queue that fit into so many seconds. Programs and sanitizers run in parallel.
plan() {
  queue | awk -F'\t' -v OFS='\t' -v left="$1" -v jobs="$jobs" '{
    cost = $2 == "correctness" ? $4 / jobs : $2 == "sanitize" ? $4 / 4 : $4
    if (cost <= left) { left -= cost; $4 = cost; print }
  }'
}

# show_plan SECONDS: for people; adjacent units of one visit share a line.
show_plan() {
  local planned all
  planned=$(plan $(($1 - kSmoke))) || return 1
  all=$(queue | wc -l)
  printf 'plan for %s, %d s:\n%7s %8s  %-9s %-12s %-12s %s\n' "$(device_slug)" "$1" 'from/s' 'takes/s' basis step visit units
  printf '%7d %8d  %-9s %-12s %-12s %s\n' 0 $kSmoke recorded - smoke 'where the machine has not passed it'
  awk -F'\t' -v begin=$kSmoke 'function line() {
      if (n) printf "%7d %8d  %-9s %-12s %-12s %s\n", begin, seconds, (guess ? (guess < n ? "partly" : "guess") : "recorded"), step, visit, (n > 2 ? n ": " first ", ..., " last : names)
      begin += seconds; seconds = n = guess = 0; names = ""
    }
    NF == 0 { next }
    $1 != step || $2 != visit { line(); step = $1; visit = $2; first = $3 }
    { n++; seconds += $4; guess += $5 == "guess"; names = names (names == "" ? "" : ", ") $3; last = $3 }
    END { line(); printf "%7d s planned\n", begin }' <<<"$planned"
  printf '%d of %d units; the others wait for more time\n' "$(grep -c . <<<"$planned")" "$all"
  [[ -s $tree/models.txt || -x build/host/perf/kernelgrade-model ]] || echo 'whole models are not in it: without a build nobody knows their names (target kernelgrade-model)'
}

# fill_budget: plans, runs the plan group by group, and plans again while something fits. The rest is left for the next call.
fill_budget() {
  local visit planned groups code=0 before='' group
  while planned=$(plan $(($(remaining) - 5))) || return 1; [[ -n $planned && $planned != "$before" ]]; do
    before=$planned
    groups=$(cut -f2 <<<"$planned" | uniq)
    while read -r visit; do
      (($(remaining) > 0)) || return 1
      # The leading lines of this visit are one group.
      group=$(awk -F'\t' -v visit="$visit" '$2 != visit { exit } { print $3 }' <<<"$planned")
      planned=$(awk -F'\t' -v visit="$visit" 'rest || $2 != visit { rest = 1; print }' <<<"$planned")
      do_group "$visit" || code=1
    done <<<"$groups"
  done
  return $code
}
do_group() {
  local code=0 group_stages
  group_stages=$(stages_of "${1/rounds/bless}")
  printf -- '--> %s: %s\n' "$1" "$(paste -sd' ' <<<"$group")"
  case $1 in
    rounds) bless || code=$? ;;
    *) "$1" || code=$? ;;
  esac
  group=''
  return $code
}
