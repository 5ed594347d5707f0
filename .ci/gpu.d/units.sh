# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2317 # variables of .ci/gpu; functions that `left` calls by name
#
# Sourced by .ci/gpu and run_unit: each visit's units of work, most valuable first (units_<visit> prints one per line), and what remains.

# parts: "<part> <op>..." of the requested operations. Runs of all shapes have other part names, or the pre-merge list would count as done.
parts() {
  awk -v wanted="$ops" -v shapes="$( ((${#subset[@]})) || echo -all)" 'BEGIN { n = split(wanted, list, " "); for (i = 1; i <= n; i++) is_wanted[list[i]] = 1 }
    /^#/ || NF == 0 { next }
    { line = ""
      for (i = 2; i <= NF; i++) if ($i in is_wanted) { line = line " " $i; delete is_wanted[$i] }
      if (line != "") print substr($1, 1, length($1) - 1) shapes line }
    END { line = ""; for (i = 1; i <= n; i++) if (list[i] in is_wanted) line = line " " list[i]; if (line != "") print "others" shapes line }' \
    .ci/gpu.d/ops.txt
}

# ops_of PART: a part of ops.txt, or operations joined by +, as `next` makes them; "-all": all shapes, "-alone": it hung before.
ops_of() {
  if [[ $1 =~ ^(first|second|others)(-all)?$ ]]; then
    parts | awk -v part="${1%-all}" '{ sub(/-all$/, "", $1) } $1 == part { $1 = ""; print substr($0, 2) }'
  else
    tr '+' ' ' <<<"${1%-*}"
  fi
}
by_worth() { parts | cut -d' ' -f2- | tr ' ' '\n'; }

units_smoke() { echo "$machine"; }
units_ceilings() { echo ceilings; }
units_instructions() { echo instructions; }
units_report() { echo report; }
units_gate() { echo gate; }
units_scaling() { echo scaling; }
units_calibrate() { echo calibrate; }
units_unit() { [[ -e manifest.txt ]] || echo unit; } # a bundle has no unit tests
units_build() { [[ -e manifest.txt ]] || echo "$machine"; }

# First units that never passed on this kind of GPU, then those with changed kernels, then the rest.
units_correctness() { known_programs | sort -s -n -k 2,2 | cut -d' ' -f1; }

# Tests that run one per process, after an error that affects later tests.
units_alone() { outcomes alone | cut -f1; }

# "<dtype>.<mode>.<part>"
passes() {
  local pass part
  for pass in ${1//,/ }; do
    while read -r part _; do echo "$pass.$part"; done < <(parts)
  done
}
units_measure() { passes "$measured"; }
units_rounds() { passes "$blessed"; }
units_bless() { passes "$blessed"; }

# memcheck and racecheck of all operations first: they find the most important errors soonest.
units_sanitize() {
  local tool op
  for tool in memcheck racecheck initcheck synccheck; do
    for op in $(by_worth); do echo "$tool.$op"; done
  done
}

# Small networks first: their names also match short runs.
units_models() { [[ ! -s $tree/models.txt ]] || { awk '$2 == "large" { print $1 }' "$tree/models.txt" | tac; units_layers; }; }
# Each layer's time in a training step, to see which layers slow down f32's backward pass.
units_layers() { echo layers.qwen2.5-0.5b_4x512; }

# "<what>.<framework>": types of the pre-merge list, and models.
units_peers() {
  local what peer
  for peer in torch torch_compile jax; do
    for what in f32 model.networks model.transformer_1x128 model.transformer_4x512 bf16 f16; do echo "$what.$peer"; done
  done
}

units_profile() {
  local op dtype
  for op in $(by_worth); do
    for dtype in f32 f16; do
      [[ -z $(rows_with_costs "$op" $dtype 2) ]] || echo "$op.$dtype"
    done
  done
}

# Running tests alone is a stage of correctness, and rounds are a stage of blessing.
stages_of() {
  case $1 in
    correctness) echo correctness alone ;;
    bless) echo rounds bless ;;
    *) echo "$1" ;;
  esac
}
undone() { local stage; for stage in $(stages_of "$1"); do left "$stage"; done; }
# Without the stage `alone`: its failures have already failed their program, unless they are not the program's.
failures() { local stage; for stage in $(stages_of "$1"); do [[ $stage == alone ]] || outcomes "$stage"; done | awk -F'\t' '$2 == "failed"' | wc -l; }

# rows_with_costs OP DTYPE COLUMN: the shapes (2) or variants (3) of the rows in baselines/simt, comma-separated.
rows_with_costs() {
  [[ -e baselines/simt/$1.csv ]] || return 0
  awk -F, -v prefix="$1.$2." -v column="$3" 'index($2, prefix) == 1 { word = $column; sub(prefix, "", word); print word }' "baselines/simt/$1.csv" |
    sort -u | paste -sd,
}

# summary: findings and remaining work, for people.
summary() {
  local visit stage unfinished=() row
  printf 'source: %s\n' "$(outcomes source | cut -f1)"
  [[ ! -e $work/logs/device.txt ]] || cat "$work/logs/device.txt"
  printf '\n%-12s %6s %7s %7s %8s %6s  %s\n' visit units passed failed skipped left next
  for visit in $all_visits; do
    for stage in $(stages_of "$visit"); do
      row=$(awk -F'\t' -v stage="$stage" 'NR == FNR { outcome[$1] = $2; next }
        { count[outcome[$1]]++; total++; if (outcome[$1] ~ /^(pending)?$/ && left++ < 3) next_units = next_units " " $1 }
        END { if (total) printf "%-12s %6d %7d %7d %8d %6d %s", stage, total, count["passed"], count["failed"], count["skipped"], left, next_units }' \
        <(outcomes "$stage"; echo ' ') <("units_$stage"))
      [[ -z $row ]] || printf '%s\n' "$row"
      [[ $row =~ \ 0\ *$ || -z $row ]] || unfinished+=("$visit")
    done
  done
  printf '\n%s\n' "$(never_passed)"
  for visit in $all_visits alone rounds; do
    outcomes "$visit" | awk -F'\t' -v visit="$visit" '$2 == "failed" { printf "FAILED %s %s (%s s): %s\n", visit, $1, $3, $4 }'
  done
  find "$results" -type f -size "+${kMostBytes}c" -printf 'TOO LARGE to be brought back: %f, %s bytes\n'
  [[ ! -e $work/logs/ceilings.txt ]] || { echo; cat "$work/logs/ceilings.txt"; }
  mapfile -t unfinished < <(printf '%s\n' "${unfinished[@]}" | uniq)
  [[ -z ${unfinished[0]} || " ${visits[*]:-} " != *' next '* ]] || unfinished=(next)
  if [[ -z ${unfinished[0]} ]]; then
    printf '\nnothing is left to do\n'
  else
    printf '\nWhat is left: %s, by\n  .ci/gpu %s --out %q%s\n' "${unfinished[*]}" "${unfinished[*]}" "$results" \
      "$( ((${#again[@]} == 0)) || printf ' %q' "${again[@]}")"
  fi
}
