# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a model of `kernelgrade model run --save-weights W --save-outputs O` in PyTorch.

What it writes has O's arrays, so that `kernelgrade model compare` says how far the two are apart.
"""

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from kernelgrade_peers import torch_models


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="kernelgrade-peers", description=__doc__)
    parser.add_argument("model", choices=["mlp", "transformer", *torch_models.NETWORKS])
    parser.add_argument("--weights", type=Path, required=True, help="safetensors of --save-weights")
    parser.add_argument("--outputs", type=Path, required=True, help="safetensors of --save-outputs")
    parser.add_argument("--config", type=Path, help="transformer: its config.json")
    parser.add_argument("--double", action="store_true", help="compute in f64, and round at the end")
    parser.add_argument("--write", type=Path, required=True, help="the file to write")
    options = parser.parse_args(words)
    if options.model == "transformer" and not options.config:
        parser.error("a transformer needs --config")

    given = load_file(options.outputs)
    inputs = {name: given[name] for name in ("x", "target", "tokens", "targets") if name in given}
    steps = len(given.get("losses", []))
    dtype = torch.float64 if options.double else torch.float32
    output, losses = torch_models.run(options.model, load_file(options.weights), inputs, options.config, steps, dtype)
    arrays = {**inputs, "output": output.float().contiguous()}
    if steps:
        arrays["losses"] = torch.tensor(losses, dtype=torch.float32)
        print("losses:", " ".join(f"{loss:.7f}" for loss in losses))
    save_file(arrays, options.write)
