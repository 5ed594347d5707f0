#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# frameworks.sh KERNELGRADE SOURCE [OP,... [SHAPE,...]]: PyTorch, Inductor and JAX give right results of these operations, on a CPU; of whole models
# where one is called model. None: of all of the build that frameworks have.
# KERNELGRADE_PYTHON: the Python that has them; where it lacks them the test is skipped (77), and fails under KERNELGRADE_STRICT=1.
set -euo pipefail
kernelgrade=$1
python=${KERNELGRADE_PYTHON:-python3}
if ! reason=$("$python" -c 'import jax, numpy, torch' 2>&1); then
  echo "skipped: $python lacks frameworks (pip install '$2/perf/peers[jax]'): ${reason##*$'\n'}"
  [[ ${KERNELGRADE_STRICT:-0} != 1 ]] || exit 1
  exit 77
fi
ops=${3:-}
if [[ -z $ops ]]; then
  built=$("$kernelgrade" list --fast --dtype f32 | sed -n 's/^\([a-z_0-9]*\)\.f32\..*/\1/p' | sort -u | paste -sd,)
  ops=$(PYTHONPATH=$2/perf/peers PYTHONDONTWRITEBYTECODE=1 "$python" -W ignore -m kernelgrade_peers operations torch "$built")
fi
"$kernelgrade" peers --fast --dtype f32 --python "$python" --peer torch,torch_compile,jax --alone --processes 1 --row-timeout 600 --op "$ops" ${4:+--shape "$4"}
