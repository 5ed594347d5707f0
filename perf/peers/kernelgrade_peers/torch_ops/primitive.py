# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Scans, sorts, selections and counts."""

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Unsupported
from kernelgrade_peers.torch_ops.operation import DTYPES, Function, Inputs, Results, operation

BITS = {torch.float64: torch.int64, torch.float32: torch.int32, torch.float16: torch.int16}


def segment_of_each(t: Inputs, n: int) -> Tensor:
    """The number of each element's segment."""
    lengths = t["offsets"].long().diff()
    return torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths, output_size=n)


@operation()
def scan(case: Case) -> Function:
    words, dtype = case.words(), DTYPES[case.dtype]
    inclusive = "inclusive" in words
    segmented = bool({"heads", "offsets"} & set(case.inputs))
    if segmented and ("max" in words or not inclusive):
        raise Unsupported("segmented scans support the inclusive sum only")
    if segmented:
        return segmented_sum
    if "max" in words:
        least = torch.iinfo(dtype).min if case.dtype == "i32" else -torch.inf

        def maxima(t: Inputs) -> Results:
            if inclusive:
                return torch.cummax(t["x"], dim=0).values
            return F.pad(torch.cummax(t["x"][:-1], dim=0).values, (1, 0), value=least)

        return maxima
    sums = torch.int32 if case.dtype == "i32" else torch.float32

    def summed(t: Inputs) -> Results:
        if inclusive:
            return torch.cumsum(t["x"], dim=0, dtype=sums).to(dtype)
        return F.pad(torch.cumsum(t["x"][:-1], dim=0, dtype=sums), (1, 0)).to(dtype)

    return summed


def segmented_sum(t: Inputs) -> Results:
    """The running sum of all less that before the segment, in f64, which has digits enough for both."""
    x = t["x"]
    sums = torch.cumsum(x, dim=0, dtype=torch.int64 if x.dtype == torch.int32 else torch.float64)
    if "heads" in t:
        head = t["heads"] != 0
        begin = torch.cat([head.new_zeros(1, dtype=torch.int64), head.nonzero().flatten()])[head.cumsum(0)]
    else:
        begin = t["offsets"].long()[segment_of_each(t, len(x))]
    return (sums - (sums - x)[begin]).to(x.dtype)


@operation()
def sort(case: Case) -> Function:
    n, pairs, segmented = case.inputs["keys"].extents[0], "values" in case.inputs, "offsets" in case.inputs
    unsigned, descending = case.dtype == "u32", "descending" in case.words()
    if case.number("begin", 0) or case.number("end", 0):
        raise Unsupported("torch.sort compares all bits of a key")

    def signed(keys: Tensor) -> Tensor:  # u32 cannot be sorted: uses i32 order with the highest bit flipped
        return keys.view(torch.int32) ^ -(2**31) if unsigned else keys

    def sorted_by_key(t: Inputs) -> Results:
        keys, order = torch.sort(signed(t["keys"]), stable=True, descending=descending)
        if segmented:
            order = order[torch.sort(segment_of_each(t, n)[order], stable=True).indices]
            keys = signed(t["keys"])[order]
        keys = (keys ^ -(2**31)).view(torch.uint32) if unsigned else keys
        return {"sorted_keys": keys} | ({"sorted_values": t["values"][order]} if pairs else {})

    return sorted_by_key


@operation()
def top_k(case: Case) -> Function:
    k = case.number("k")

    def largest(t: Inputs) -> Results:
        if case.dtype == "f32":
            values, indices = torch.topk(t["x"], k, dim=1)
        else:  # topk does not return the first of equal elements, which are frequent in 16 bits
            values, indices = (each[:, :k] for each in torch.sort(t["x"], dim=1, descending=True, stable=True))
        return {"values": values, "indices": indices}

    return largest


@operation()
def histogram(case: Case) -> Function:
    bins, lower, upper = case.number("bins"), case.scalars["lower"], case.scalars["upper"]
    if case.dtype == "f32":
        return lambda t: torch.histc(t["x"], bins, lower, upper)
    first, width = int(lower), int(upper - lower) // bins

    def counted(t: Inputs) -> Results:
        x = t["x"].int() - first
        inside = (x >= 0) & (x < width * bins)
        return torch.bincount(torch.where(inside, x // width, bins), minlength=bins + 1)[:bins]

    return counted


@operation()
def select(case: Case) -> Function:
    def kept(y: Tensor) -> Results:
        return {"count": torch.full((1,), y.numel(), dtype=torch.int32, device=y.device), "y": y}

    if "flagged" in case.words():
        return lambda t: kept(t["x"][t["flags"] != 0])

    def unique(t: Inputs) -> Results:  # compares bits
        x = t["x"]
        return kept(torch.unique_consecutive(x.view(BITS.get(x.dtype, x.dtype))).view(x.dtype))

    return unique


@operation()
def reduce_by_key(case: Case) -> Function:
    operation = {"sum": "sum", "min": "amin", "max": "amax", "first": ""}[case.shape.split("_")[0]]

    def reduced(t: Inputs) -> Results:
        values = t["values"]
        if operation:
            unique, run = torch.unique_consecutive(t["keys"], return_inverse=True)
            results = values.new_empty(unique.shape).scatter_reduce_(0, run, values, operation, include_self=False)
        else:
            begins = torch.ones_like(t["keys"], dtype=torch.bool)
            begins[1:] = t["keys"][1:] != t["keys"][:-1]
            place = begins.nonzero().flatten()
            unique, results = t["keys"][place], values[place]
        count = torch.full((1,), unique.numel(), dtype=torch.int32, device=values.device)
        return {"count": count, "unique": unique, "results": results}

    return reduced
