# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Softmaxes and reductions: along the rows of a matrix, or an axis of a tensor."""

import torch
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import DEVICE, DTYPES, Function, Inputs, Results, operation

aten = torch.ops.aten


@operation()
def softmax(case: Case) -> Function:
    function = F.log_softmax if "log" in case.words() else F.softmax
    return lambda t: function(t["x"], dim=-1)


@operation()
def softmax_backward(case: Case) -> Function:
    function = aten._log_softmax_backward_data if "log" in case.words() else aten._softmax_backward_data
    return lambda t: function(t["dy"], t["y"], -1, t["y"].dtype)


@operation()
def masked_softmax(case: Case) -> Function:
    scale = case.scalars["scale"]
    if "boolean" in case.words():
        return lambda t: (t["x"] * scale).masked_fill(t["keep"] == 0, -torch.inf).softmax(dim=-1)
    queries, cols = int(case.scalars["queries"]), case.inputs["x"].extents[1]
    hidden = torch.ones(queries, cols, dtype=torch.bool, device=DEVICE).tril(cols - queries).logical_not()

    def causal(t: Inputs) -> Results:
        x = t["x"].view(-1, queries, cols)
        return (x * scale).masked_fill(hidden, -torch.inf).softmax(dim=-1)

    return causal


@operation()
def softmax_sum(case: Case) -> Function:
    return lambda t: F.softmax(t["alpha"].float(), dim=0) @ t["x"].float()


@operation()
def softmax_sum_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        weights, dy = F.softmax(t["alpha"].float(), dim=0), t["dy"].float()
        sums = t["x"].float() @ dy
        return {"dx": torch.outer(weights, dy), "dalpha": weights * (sums - weights @ sums)}

    return gradients


@operation()
def reduction(case: Case) -> Function:
    words = case.words()  # the axis is always the second one
    if "max" in words or "min" in words:
        extremum = torch.amax if "max" in words else torch.amin
        return lambda t: extremum(t["x"], dim=1)
    function, dtype = (torch.mean if "mean" in words else torch.sum), DTYPES[case.dtype]
    return lambda t: function(t["x"], dim=1, dtype=dtype)


@operation()
def reduction_backward(case: Case) -> Function:
    words, extents = case.words(), case.outputs["dx"].extents
    if "max" in words or "min" in words:
        extremum = torch.max if "max" in words else torch.min

        def selected(t: Inputs) -> Results:
            place = extremum(t["x"], dim=1, keepdim=True).indices
            return torch.zeros_like(t["x"]).scatter_(1, place, t["dy"].unsqueeze(1))

        return selected
    share = extents[1] if "mean" in words else 1
    return lambda t: (t["dy"] / share if share > 1 else t["dy"]).unsqueeze(1).expand(extents).contiguous()


@operation()
def argmax(case: Case) -> Function:
    return lambda t: torch.argmax(t["x"], dim=1)
