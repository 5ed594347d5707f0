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
# program as many seconds as `test_ms` says, which adds up to 8 minutes for all of them one after another. With STAND_IN_MEASURED=1 they are
# what an H200 took, of test programs eight at a time, or of those that never ran as much as of others like them; and of rows
# what it took besides their verification, and for that what it takes on a CPU.

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

if [[ -z ${STAND_IN_MEASURED:-} ]]; then
  readonly kStartMs=2500 kRowMs=400 kLibraryMs=400 kCeilingsMs=35000 kInstructionsMs=5000
else
  readonly kStartMs=2000 kRowMs=270 kLibraryMs=730 kCeilingsMs=16000 kInstructionsMs=15000
fi
# Besides the start of its process.
test_ms() {
  case ${STAND_IN_MEASURED:-0}.$1 in
    0.gemm | 0.conv2d | 0.conv2d_backward) echo 9500 ;;
    0.*) echo 1000 ;;
    *.gemm) echo 138000 ;;
    *.layernorm | *.conv2d) echo 93000 ;;
    *.layernorm_backward | *.rmsnorm) echo 72000 ;;
    *.batchnorm | *.reduction | *.rmsnorm_backward | *.conv2d_backward) echo 56000 ;;
    *.attention | *.attention_backward | *.residual_rmsnorm | *.batchnorm_backward | *.quantised_matmul) echo 43000 ;;
    *.softmax | *.softmax_backward | *.reduction_backward | *.cross_entropy_backward) echo 31000 ;;
    *.attention_decode | *.pooling* | *.masked_softmax | *.cross_entropy | *.bias_gelu | *.activation_backward | *.gather) echo 20000 ;;
    *.argmax | *.cast | *.dropout | *.embedding_backward | *.histogram | *.permute | *.random_fill | *.select | *.softmax_sum | *.sort | *.top_k | *.transpose) echo 5000 ;;
    *) echo 12000 ;;
  esac
}
