#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# frameworks.sh KERNELGRADE SOURCE OP,... [SHAPE,...]: PyTorch, Inductor and JAX give right results of these operations, on a CPU; of whole
# models where one is called model.
# KERNELGRADE_PYTHON: the Python that has them; where it lacks them the test is skipped (77), and fails under KERNELGRADE_STRICT=1.
set -euo pipefail
kernelgrade=$1
python=${KERNELGRADE_PYTHON:-python3}
if ! reason=$("$python" -c 'import jax, numpy, torch' 2>&1); then
  echo "skipped: $python lacks frameworks (pip install '$2/perf/peers[jax]'): ${reason##*$'\n'}"
  [[ ${KERNELGRADE_STRICT:-0} != 1 ]] || exit 1
  exit 77
fi
"$kernelgrade" peers --fast --dtype f32 --python "$python" --peer torch,torch_compile,jax --alone --processes 1 --row-timeout 600 --op "$3" ${4:+--shape "$4"}
