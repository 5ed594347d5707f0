# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu: whole models, the same cases in other frameworks, and the gate's error rates.

# keep_rows VISIT UNIT FILE CODE SECONDS: keeps the rows of FILE and the output, then records the outcome. A missing FILE is a failure; code
# 77 means that the rows have no baseline yet.
keep_rows() {
  local visit=$1 unit=$2 file=$3 code=$4 outcome=passed
  tail -n 40 "$work/$visit.log"
  keep logs "$work/$visit.log" "$visit.$unit.log"
  if [[ -s $file ]]; then keep rows "$file" "$visit.$unit.json"; else outcome=failed; fi
  ((code == 0 || code == 77)) || outcome=failed
  publish rows
  done_unit logs "$visit" "$unit" $outcome "$5" "exit code $code: $(tail -n 1 "$work/$visit.log" | tr '\t' ' ' | cut -c1-200)"
  [[ $outcome == passed ]]
}

# Each listed model that only runs on a GPU, by phase.
models() { each models models_unit; }
models_unit() {
  local code=0 begin=$SECONDS
  rm -f "$work/model.json"
  [[ $1 != layers.* ]] || { layers_unit "$1"; return; }
  limited 180 "$tree/perf/kernelgrade-model" gate --case "$1" --runs 10 --baselines "$work/rounds/baselines" --json "$work/model.json" \
    "${source[@]}" >"$work/models.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/models.log"; return 0; }
  ! cut_off $code || return $code
  keep_rows models "$1" "$work/model.json" $code $((SECONDS - begin))
}

# layers.<configuration>_<batch>x<sequence>
layers_unit() {
  local code=0 begin=$SECONDS outcome=passed
  [[ $1 =~ ^layers\.(.*)_([0-9]+)x([0-9]+)$ ]]
  limited 180 "$tree/perf/kernelgrade-model" run transformer --config "kernels/models/configs/${BASH_REMATCH[1]}.json" \
    --batch "${BASH_REMATCH[2]}" --sequence "${BASH_REMATCH[3]}" --steps 1 --json "$work/model.json" >"$work/models.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/models.log"; return 0; }
  ! cut_off $code || return $code
  ((code == 0)) && [[ -s $work/model.json ]] || outcome=failed
  [[ ! -s $work/model.json ]] || keep logs "$work/model.json" "$1.json"
  keep logs "$work/models.log" "$1.log"
  done_unit logs models "$1" $outcome $((SECONDS - begin)) "exit code $code"
  [[ $outcome == passed ]]
}

# How an MLP's training time grows with its steps, layers, batch and width; exit code 77: the times scatter too much.
scaling() {
  local code=0 begin=$SECONDS outcome=passed
  limited 180 "$tree/perf/kernelgrade-model" scaling --dim 2048 --layers 4 --batch 2048 --steps 2 --runs 5 >"$work/scaling.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/scaling.log"; return 0; }
  ! cut_off $code || return $code
  cat "$work/scaling.log"
  ((code == 0)) || outcome=failed
  keep logs "$work/scaling.log" scaling.log
  done_unit logs scaling scaling $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}

# Rows of other frameworks: the pre-merge operations by type, and whole models. A row whose operation a framework lacks is not a failure; a
# wrong result is.
readonly kPeerModels='mlp_dim256_layers4_batch256_inference,mlp_dim256_layers4_batch256_training,alexnet_batch8_size224_nhwc_inference,alexnet_batch8_size224_nhwc_training,resnet50_batch8_size224_nhwc_inference,resnet50_batch8_size224_nhwc_training'
# The requested operations that a framework has.
peer_ops() {
  PYTHONPATH=perf/peers PYTHONDONTWRITEBYTECODE=1 python3 -W ignore -m kernelgrade_peers operations "$1" "${ops// /,}"
}
peers() { each peers peers_unit; }
peers_unit() {
  local what=${1%.*} peer=${1##*.} code=0 begin=$SECONDS chosen theirs transformer='' verdicts
  case $what in
    model.networks) chosen=(--op model --shape "$kPeerModels") ;;
    model.transformer_*)
      [[ $what =~ _([0-9]+)x([0-9]+)$ ]]
      transformer=transformer_qwen2.5_0.5b_batch${BASH_REMATCH[1]}_sequence${BASH_REMATCH[2]}
      chosen=(--op model --shape "${transformer}_inference,${transformer}_training")
      ;;
    *)
      if ((dry_run)); then theirs='<those of the framework>'; else theirs=$(peer_ops "$peer"); fi
      chosen=("${subset[@]}" --op "$theirs" --dtype "$what")
      ;;
  esac
  rm -f "$work/peers.json"
  limited 400 "$kernelgrade" peers "${chosen[@]}" --peer "$peer" --python python3 --alone --processes 1 --row-timeout 120 \
    --json "$work/peers.json" "${source[@]}" >"$work/peers.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/peers.log"; return 0; }
  ! cut_off $code || return $code
  # Exit code 1 includes rows of unsupported operations; the unit passes if at least one row is correct and none is wrong.
  if ((code == 1)) && [[ -s $work/peers.json ]]; then
    verdicts=$(grep -o '"verified": *"[^"]*' "$work/peers.json" | sed 's/.*"/=/' || true) # none: no correct row
    if grep -qx '=' <<<"$verdicts" && ! grep -v '^=unsupported: ' <<<"$verdicts" | grep '^=.' >/dev/null; then code=0; fi
  fi
  keep_rows peers "$1" "$work/peers.json" $code $((SECONDS - begin))
}

# The gate's false alarms and power, in the remaining time. Each call appends to the file; 500 checks of unchanged code suffice.
readonly kChecks=500
calibration_file() { echo "$work/rounds/baselines/$(device_slug)/calibration.csv"; }
checks_made() { awk -F, '$4 == "aa" && $5 == "all" && $6 == "kernelgrade" { n += $7 } END { print n + 0 }' "$(calibration_file)" 2>/dev/null || echo 0; }
calibrate() {
  local code=0 begin=$SECONDS outcome=passed minutes=$((($(remaining) - 20) / 60))
  ((minutes > 0 || dry_run)) || { echo 'less than a minute is left'; return 1; }
  ((dry_run)) || mkdir -p "$(dirname "$(calibration_file)")"
  limited 36000 "$kernelgrade" selftest aa inject=2,5,10 "${subset[@]}" --op "$(ops_of first | tr ' ' ',')" --dtype f32 --mode cold \
    --minutes $minutes --batches-per-bless 20 --out "$(calibration_file)" "${source[@]}" >"$work/calibrate.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/calibrate.log"; return 0; }
  tail -n 60 "$work/calibrate.log"
  keep logs "$work/calibrate.log" calibrate.log
  publish logs rounds
  ! cut_off $code || return $code
  (($(checks_made) >= kChecks)) || { echo "$(checks_made) of $kChecks checks are made"; return 1; }
  ((code == 0)) || outcome=failed
  done_unit rounds calibrate calibrate $outcome $((SECONDS - begin)) "$(checks_made) checks of unchanged code"
  return $code
}
