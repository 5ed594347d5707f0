#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh MODEL SOURCE: the models in PyTorch, Hugging Face's transformers and torchvision, from the same weights and inputs: outputs, and
# where they are trained the losses of ten steps. MODEL is kernelgrade-model. KERNELGRADE_PYTHON: the Python that has the packages of perf/peers (default: python3).
# Where it lacks them the test is skipped (77); under KERNELGRADE_STRICT=1 it fails.
set -euo pipefail
model=$1
source=$2
python=${KERNELGRADE_PYTHON:-python3}
export PYTHONPATH=$source/perf/peers PYTHONDONTWRITEBYTECODE=1

if ! reason=$("$python" -c 'import numpy, safetensors, torch, torchvision, transformers' 2>&1); then
  echo "skipped: $python has not what perf/peers needs (pip install perf/peers): ${reason##*$'\n'}"
  [[ ${KERNELGRADE_STRICT:-0} != 1 ]] || exit 1
  exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# judge NAME ARGUMENT... -- ARGUMENT...: of `model run`, and of the peer.
judge() {
  local name=$1 ours=() at=$folder/$1
  shift
  while [[ $1 != -- ]]; do ours+=("$1"); shift; done
  shift
  "$model" run "$name" "${ours[@]}" --runs 1 --save-weights "$at.weights" --save-outputs "$at.ours" | tail -n 1
  "$python" -m kernelgrade_peers "$name" --weights "$at.weights" --outputs "$at.ours" --write "$at.peer" "$@"
  "$model" compare "$at.ours" "$at.peer"
}
judge mlp --steps 10 --dim 128 --layers 4 --batch 64 --
judge resnet50 --batch 2 --size 224 --
judge resnet50 --batch 2 --size 64 --batchnorms running --
judge alexnet --batch 2 --
judge resnet18 --batch 4 --size 64 --steps 10 --
judge alexnet --batch 1 --steps 2 --
for config in reduced gpt2-reduced; do
  file=$source/kernels/models/configs/$config.json
  judge transformer --steps 10 --batch 2 --sequence 32 --config "$file" -- --config "$file"
done

# What is compared can differ: with other weights the outputs are far apart.
"$model" run mlp --dim 128 --layers 4 --batch 64 --runs 1 --seed 1 --save-weights "$folder/other" >/dev/null
"$python" -m kernelgrade_peers mlp --weights "$folder/other" --outputs "$folder/mlp.ours" --write "$folder/mlp.other" >/dev/null
if "$model" compare "$folder/mlp.ours" "$folder/mlp.other" >/dev/null; then
  echo 'other weights gave the same outputs'
  exit 1
fi
