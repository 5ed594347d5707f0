# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Element by element: arithmetic, activations and their gradients, casts."""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import DTYPES, Compile, Function, Inputs, Results, operation, wide

aten = torch.ops.aten
ARITHMETIC = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
ACTIVATIONS = {
    "relu": F.relu,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelutanh": partial(F.gelu, approximate="tanh"),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
GATES = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}


@operation()
def elementwise(case: Case) -> Function:
    function = ARITHMETIC[case.shape.split("_")[0]]
    return lambda t: function(t["a"], t["b"])


@operation()
def broadcast(case: Case) -> Function:
    function = ARITHMETIC.get(case.shape.split("_")[0], torch.add)
    return lambda t: function(t["a"], t["b"])


@operation()
def elementwise_backward(case: Case) -> Function:
    if "mul" in case.words():
        return lambda t: {"da": t["dy"] * t["b"], "db": t["dy"] * t["a"]}

    def quotient(t: Inputs) -> Results:
        dy, a, b = (wide(t[name]) for name in ("dy", "a", "b"))
        da = dy / b
        dtype = t["dy"].dtype
        return {"da": da.to(dtype), "db": (-da * (a / b)).to(dtype)}

    return quotient


@operation()
def axpy(case: Case) -> Function:
    alpha = case.scalars["alpha"]
    return lambda t: torch.add(t["y"], t["x"], alpha=alpha)


@operation()
def cast(case: Case) -> Function:
    dtype = DTYPES[case.outputs["y"].dtype]
    if "saturated" not in case.words():
        return lambda t: t["x"].to(dtype)
    most = torch.finfo(dtype).max
    return lambda t: t["x"].clamp(-most, most).to(dtype)


def activation_of(case: Case) -> str:
    return case.shape.rsplit("_n", 1)[0]


@operation()
def activation(case: Case) -> Function:
    function = ACTIVATIONS[activation_of(case)]
    return lambda t: function(t["x"])


def slope(name: str, dy: Tensor, x: Tensor) -> Tensor:
    """dy f'(x); of sigmoid and tanh x is f(x)."""
    match name:
        case "relu":
            return aten.threshold_backward(dy, x, 0)
        case "silu":
            return aten.silu_backward(dy, x)
        case "gelu":
            return aten.gelu_backward(dy, x)
        case "gelutanh":
            return aten.gelu_backward(dy, x, approximate="tanh")
        case "sigmoid":
            return aten.sigmoid_backward(dy, x)
    return aten.tanh_backward(dy, x)


def kept(case: Case, t: Inputs, _: Compile) -> Inputs:
    """Of sigmoid and tanh the forward pass keeps the result."""
    name = activation_of(case)
    return t | {"x": ACTIVATIONS[name](t["x"])} if name in ("sigmoid", "tanh") else t


@operation(given=kept)
def activation_backward(case: Case) -> Function:
    name = activation_of(case)
    return lambda t: slope(name, t["dy"], t["x"])


def gelu_of(case: Case) -> str:
    return "gelutanh" if "tanh" in case.words() else "gelu"


@operation()
def bias_gelu(case: Case) -> Function:
    function = ACTIVATIONS[gelu_of(case)]
    return lambda t: function(t["x"] + t["bias"])


@operation()
def bias_gelu_backward(case: Case) -> Function:
    name = gelu_of(case)

    def gradients(t: Inputs) -> Results:
        dx = slope(name, t["dy"], t["x"] + t["bias"])
        return {"dx": dx, "dbias": dx.sum(0)}

    return gradients


@operation()
def gated_activation(case: Case) -> Function:
    function = ACTIVATIONS[GATES[case.shape.split("_")[0]]]

    def gated(t: Inputs) -> Results:
        gate, value = t["x"].chunk(2, dim=-1)
        return function(gate) * value

    return gated


@operation()
def gated_activation_backward(case: Case) -> Function:
    name = GATES[case.shape.split("_")[0]]

    def gradients(t: Inputs) -> Results:
        gate, value = t["x"].chunk(2, dim=-1)
        return torch.cat([slope(name, t["dy"] * value, gate), t["dy"] * ACTIVATIONS[name](gate)], dim=-1)

    return gradients
