# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu: single instructions, hardware counters, and the suite's own tests.

# The metrics for `kernelgrade compare --hardware` and for people that this ncu knows: one unknown name fails a run.
known_metrics() {
  local known name metrics=''
  known=$(ncu --query-metrics 2>/dev/null | awk '{ print $1 }')
  for name in l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts l1tex__t_requests_pipe_lsu_mem_global_op_st \
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts l1tex__t_sectors_pipe_lsu_mem_global_op_st \
    l1tex__data_pipe_lsu_wavefronts_mem_shared l1tex__data_bank_conflicts_pipe_lsu_mem_shared dram__bytes_read dram__bytes_write; do
    ! grep -qx "$name" <<<"$known" || metrics+=,$name.sum
  done
  echo "${metrics#,}"
}

# Compares PTX instructions with the executor for many operands each (tests/unit/kernels/runtime/ptx/snippets).
instructions() {
  local code=0 begin=$SECONDS outcome=passed
  limited 120 "$tree/instructions_test" >"$work/instructions.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/instructions.log"; return 0; }
  ! cut_off $code || return $code
  grep -E ', and not |within the bound|^[0-9]+ passed' "$work/instructions.log" || tail -n 3 "$work/instructions.log"
  ((code == 0)) || outcome=failed
  keep logs "$work/instructions.log" instructions.log
  done_unit logs instructions instructions $outcome $((SECONDS - begin)) "$(grep -E '^[0-9]+ passed' "$work/instructions.log" || echo "exit code $code")"
  return $code
}

# Hardware counts of the launches whose costs the executor counts, for `kernelgrade compare --hardware *.csv` on the host backend, after
# `tar -xf tools.tar` and `unxz`.
profile() {
  command -v ncu >/dev/null || ((dry_run)) || { echo 'ncu not found on PATH; it comes with the CUDA toolkit'; return 1; }
  metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
  ((dry_run)) || metrics=$(known_metrics)
  [[ -n $metrics ]] || { echo 'this ncu knows none of the metrics'; return 1; }
  each profile profile_unit
}

profile_unit() {
  local unit=$1 op=${1%.*} dtype=${1##*.} code=0 begin=$SECONDS outcome=passed
  rm -f "$work/hardware.csv" "$work/hardware.json"
  limited 120 ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" --log-file "$work/hardware.csv" \
    "$kernelgrade" run --once --quiet --op "$op" --dtype "$dtype" --shape "$(rows_with_costs "$op" "$dtype" 2)" \
    --variant "$(rows_with_costs "$op" "$dtype" 3)" --json "$work/hardware.json" "${source[@]}" || code=$?
  ((dry_run == 0)) || return 0
  ! cut_off $code || return $code
  ((code == 0)) || outcome=failed
  [[ ! -s $work/hardware.json ]] || keep logs "$work/hardware.json" "$unit.json"
  [[ ! -s $work/hardware.csv ]] || keep logs "$work/hardware.csv" "$unit.csv"
  done_unit logs profile "$unit" $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}

# The suite's own device tests; only in the tree that built them.
unit_tests() {
  local code=0 begin=$SECONDS outcome=passed
  [[ ! -e manifest.txt ]] || { echo 'a bundle holds no unit tests'; return 0; }
  limited 3600 cmake --build "$tree" -- -k 0 || code=$?
  ! cut_off $code || return $code
  limited 400 ctest --test-dir "$tree" -L '^unit$' -j "$(nproc)" --no-tests=error --output-on-failure --output-log "$work/unit.log" || code=$?
  ((dry_run == 0)) || return 0
  ! cut_off $code || return $code
  ((code == 0)) || outcome=failed
  [[ ! -e $work/unit.log ]] || keep logs "$work/unit.log" unit.log
  done_unit logs unit unit $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}
