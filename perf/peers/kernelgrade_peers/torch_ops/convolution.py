# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, poolings and their gradients."""

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import DEVICE, DTYPES, Compile, Function, Inputs, Results, operation

aten = torch.ops.aten


def in_layout(function: Function, case: Case) -> Function:
    """NHWC is PyTorch's channels_last: a view of the same memory."""
    if "nhwc" not in case.words():
        return function

    def channels_last(t: Inputs) -> Results:
        images = {name: each.permute(0, 3, 1, 2) if each.dim() == 4 else each for name, each in t.items()}
        result = function(images)
        return result.permute(0, 2, 3, 1) if result.dim() == 4 else result

    return channels_last


def like(case: Case, name: str) -> Tensor:
    """Of these extents and this layout, as N, C, H, W; nobody reads it."""
    of = case.outputs[name]
    empty = torch.empty(of.extents, dtype=DTYPES[of.dtype], device=DEVICE)
    return empty.permute(0, 3, 1, 2) if "nhwc" in case.words() else empty


@operation()
def conv2d(case: Case) -> Function:
    stride, pad = case.number("s"), case.number("p")
    if "separable" in case.words():

        def separable(t: Inputs) -> Tensor:
            channels = t["x"].shape[1]
            deep = F.conv2d(t["x"], t["weights"], stride=stride, padding=pad, groups=channels)
            return F.conv2d(deep, t["mixing"][:, :, None, None])

        return in_layout(separable, case)
    groups = case.number("g")
    bias = "bias" if "bias" in case.inputs else ""
    return in_layout(lambda t: F.conv2d(t["x"], t["weights"], t.get(bias), stride, pad, groups=groups), case)


@operation()
def conv2d_backward(case: Case) -> Function:
    stride, pad, groups = case.number("s"), case.number("p"), case.number("g")
    if "bias" in case.words():
        return in_layout(lambda t: t["dy"].sum((0, 2, 3)), case)
    of_input = "input" in case.words()
    other = like(case, "gradient")

    def gradient(t: Inputs) -> Tensor:
        x, weights = (other, t["weights"]) if of_input else (t["x"], other)
        found = aten.convolution_backward(
            t["dy"], x, weights, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups,
            [of_input, not of_input, False],
        )  # fmt: skip
        return found[0] if of_input else found[1]

    return in_layout(gradient, case)


@operation()
def pooling(case: Case) -> Function:
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))
    ceil, padded = "ceil" in case.words(), "avgpad" in case.words()
    if "max" in case.words():
        return in_layout(lambda t: F.max_pool2d(t["x"], kernel, stride, pad, ceil_mode=ceil), case)
    return in_layout(lambda t: F.avg_pool2d(t["x"], kernel, stride, pad, ceil, padded), case)


def with_places(case: Case, t: Inputs, _: Compile) -> Inputs:
    """The forward pass keeps the places of the maxima."""
    if "max" not in case.words():
        return t
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))
    x = t["x"].permute(0, 3, 1, 2) if "nhwc" in case.words() else t["x"]
    ceil = "ceil" in case.words()
    places = F.max_pool2d(x, kernel, stride, pad, ceil_mode=ceil, return_indices=True)[1]
    return t | {"places": places.permute(0, 2, 3, 1) if "nhwc" in case.words() else places}


@operation(given=with_places)
def pooling_backward(case: Case) -> Function:
    kernel, stride, pad = ([case.number(key)] * 2 for key in ("k", "s", "p"))
    ceil, padded = "ceil" in case.words(), "avgpad" in case.words()
    if "max" in case.words():
        return in_layout(
            lambda t: aten.max_pool2d_with_indices_backward(
                t["dy"], t["x"], kernel, stride, pad, [1, 1], ceil, t["places"]
            ),
            case,
        )
    x = like(case, "dx")
    return in_layout(lambda t: aten.avg_pool2d_backward(t["dy"], x, kernel, stride, pad, ceil, padded, None), case)
