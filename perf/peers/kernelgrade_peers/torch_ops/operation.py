# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""How an operation is written in PyTorch, and those that are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kernelgrade_peers.case import Case

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "u32": torch.uint32,
    "u8": torch.uint8,
}
Inputs = dict[str, Tensor]
Results = Tensor | dict[str, Tensor]  # by name if there are several; missing ones are optional
Function = Callable[[Inputs], Results]
Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
Given = Callable[[Case, Inputs, Compile], Inputs]


class Operation(NamedTuple):
    make: Callable[[Case], Function]
    given: Given
    traced: bool


OPERATIONS: dict[str, Operation] = {}


def as_they_are(_: Case, t: Inputs, __: Compile) -> Inputs:
    return t


def operation(given: Given = as_they_are, traced: bool = True) -> Callable[..., Any]:
    """Adds a function of this name. `given`, untimed: the inputs as PyTorch's own forward pass leaves them.

    `traced`: torch_compile compiles what the function makes; where not, `given` compiles what there is to.
    """

    def add(make: Callable[[Case], Function]) -> Callable[[Case], Function]:
        OPERATIONS[make.__name__] = Operation(make, given, traced)
        return make

    return add


def wide(x: Tensor) -> Tensor:
    """In f32, as autocast computes what 16 bits are too few for."""
    return x if x.dtype == torch.float64 else x.float()
