# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch, eager and compiled by Inductor: the operations of torch_ops and whole models."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import safetensors.torch
import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
from torch import Tensor

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import NOT_COMPARED, Solver, Unsupported
from kernelgrade_peers.torch_ops import DEVICE, DTYPES, OPERATIONS
from kernelgrade_peers.torch_ops.operation import Function, Inputs

# The rules for all frameworks: f32 without TF32, 16-bit products summed in f32, quotients rounded once.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True  # tries its kernels in the first call
torch._inductor.config.eager_numerics.division_rounding = True
torch._inductor.config.eager_numerics.disable_ftz = True
torch._dynamo.config.capture_dynamic_output_shape_ops = True  # for selections
torch._functorch.config.donated_buffer = False  # a backward pass runs many times

Finish = Callable[[Tensor], Tensor]  # an additional result that is not part of the timed work


def unchanged(result: Tensor) -> Tensor:
    return result


def whole_model(case: Case, inputs: Inputs, compiled: bool) -> tuple[Function, Finish]:
    """Its output, or the losses of training from the given weights, to which the loss of what it leaves is added."""
    from kernelgrade_peers import torch_models  # imported here: it needs more packages

    name = case.shape.split("_")[0]
    weights = {key: each.to(DEVICE) for key, each in safetensors.torch.load(case.input_bytes("weights")).items()}
    config = json.loads(case.input_bytes("config")) if name == "transformer" else None
    model, loss_of = torch_models.make(name, weights, config)
    trains = "training" in case.words()
    model = model.to(DEVICE).train(trains)
    x = torch_models.model_input(name, inputs)
    called = torch.compile(model, fullgraph=True) if compiled else model
    if not trains:
        return lambda _: called(x), unchanged
    first = {key: each.clone() for key, each in model.state_dict().items()}
    steps = case.number("steps", 1)

    def losses(t: Inputs) -> Tensor:
        model.load_state_dict(first)
        return torch_models.train(
            torch_models.make_optimizer(name, model, len(x)), lambda: loss_of(called(x), t), steps
        )

    def with_last(losses: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([losses, loss_of(model(x), inputs).reshape(1)])

    return losses, with_last


def library() -> str:
    gpu = f" on {torch.cuda.get_device_name()}" if DEVICE == "cuda" else f", {torch.get_num_threads()} threads"
    return f"torch {torch.__version__}{gpu}"


def to_bytes(tensor: Tensor, size: int) -> memoryview:
    """Where fewer elements were wanted than there is room for, nobody looks at what lies behind them."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    if flat.numel() < size:
        flat = torch.cat([flat, flat.new_zeros(size - flat.numel())])
    return memoryview(flat.view(torch.uint8).numpy())


def wait(_: object) -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def release() -> None:
    """Gives the last case's memory back; throws where an error of a kernel has cost the GPU's context."""
    torch.compiler.reset()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def read_input(case: Case, name: str) -> Tensor:
    described = case.inputs[name]
    contents = torch.from_numpy(np.fromfile(case.input_path(name), np.uint8))
    return contents.view(DTYPES[described.dtype]).reshape(described.extents).to(DEVICE)


def prepare(case: Case, name: str) -> Solver:
    if case.op not in OPERATIONS and case.op != "model":
        why = "draws other random numbers" if case.op in NOT_COMPARED else "not implemented"
        raise Unsupported(f"{case.op} in PyTorch: {why}")
    compiles = name == "torch_compile"
    inputs = {each: read_input(case, each) for each in case.inputs if each not in case.files}
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in case.tokens()
    finish, no_gradients = unchanged, "training" not in case.words()
    if case.op == "model":
        function, finish = whole_model(case, inputs, compiles)
    else:

        def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
            return torch.compile(function, fullgraph=True, dynamic=False) if compiles else function

        operation = OPERATIONS[case.op]
        function = operation.make(case)
        if operation.traced:
            function = compiled(function)
        no_gradients = operation.traced
        inputs = operation.given(case, inputs, compiled)
    first = {each: inputs[each].clone() for each in case.updated}

    def run() -> object:
        with torch.inference_mode(no_gradients):
            return function(inputs)

    def read(result: object) -> dict[str, bytes | memoryview]:
        found = result if isinstance(result, dict) else {next(iter(case.outputs)): finish(result)}
        outputs = {each: case.outputs[each] for each in found}
        return {
            each: to_bytes(found[each].to(DTYPES[output.dtype]), output.size if "count" in case.outputs else 0)
            for each, output in outputs.items()
        }

    def restore() -> None:
        for each, contents in first.items():
            inputs[each].copy_(contents)

    return Solver(run, wait, read, restore=restore)
