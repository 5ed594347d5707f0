# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # for those who source this
#
# Sourced by the stand-ins for what a machine with a GPU runs. They take the time that a model says, times STAND_IN_SCALE thousandths, and
# say in STAND_IN_TRUTH what they have really done, so that a test can see what got lost. STAND_IN_FAULTS is a file of lines
# "<what> <fault>", where <what> is <op>.<dtype>:<test>, <case> <variant> joined by '/', or the name of a command.
#
# The model's seconds are the estimates of an audit, not measurements: a process that uses CUDA starts in 2.5 s, a row takes 0.4 s, a test
# program as many seconds as `test_ms` says, which adds up to 8 minutes for all of them one after another.

exec {never}<> <(:)

# spend MILLISECONDS: of the modelled device.
spend() {
  local us=$(($1 * ${STAND_IN_SCALE:-1000}))
  ((us > 0)) || return 0
  read -rt "$((us / 1000000)).$(printf %06d $((us % 1000000)))" -u "$never" || true
}

truth() { printf '%s\n' "$*" >>"$STAND_IN_TRUTH"; }

fault_of() {
  [[ ! -s ${STAND_IN_FAULTS:-/dev/null} ]] || awk -v what="$1" '$1 == what { print $2; exit }' "$STAND_IN_FAULTS"
}

hang() { read -rt 1000000 -u "$never" || true; }

readonly kStartMs=2500 kRowMs=400
test_ms() {
  case $1 in
    gemm | conv2d | conv2d_backward) echo 9500 ;;
    *) echo 1000 ;;
  esac
}
