# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""What moves data, and the gradient of a lookup."""

import torch

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import Compile, Function, Inputs, Results, operation, wide


@operation()
def copy(case: Case) -> Function:
    return lambda t: t["x"].clone()


@operation()
def transpose(case: Case) -> Function:
    return lambda t: t["x"].t().contiguous()


@operation()
def permute(case: Case) -> Function:
    rank = len(case.inputs["x"].extents)
    order = [int(digit) for digit in f"{int(case.scalars['order']):0{rank}}"]
    return lambda t: t["x"].permute(order).contiguous()


@operation()
def concat(case: Case) -> Function:
    if "whole" in case.outputs:
        return lambda t: torch.cat([t[name] for name in case.inputs], dim=1)
    lengths = [each.extents[1] for each in case.outputs.values()]
    return lambda t: dict(zip(case.outputs, torch.split_with_sizes_copy(t["whole"], lengths, dim=1), strict=True))


@operation()
def gather(case: Case) -> Function:
    return lambda t: torch.index_select(t["table"], 1, t["index"])


def as_looked_up(_: Case, t: Inputs, __: Compile) -> Inputs:
    """The rows in the order in which they were looked up, as the forward pass had them."""
    offsets, order = t["offsets"].long(), t["order"].long()
    rows = torch.arange(len(offsets) - 1, device=offsets.device).repeat_interleave(offsets.diff())
    return t | {"rows": torch.empty_like(order).scatter_(0, order, rows)}


@operation(given=as_looked_up)
def embedding_backward(case: Case) -> Function:
    rows = case.outputs["y"].extents[0]

    def gradient(t: Inputs) -> Results:
        x = t["x"]
        return torch.ops.aten.embedding_dense_backward(wide(x), t["rows"], rows, -1, False).to(x.dtype)

    return gradient


@operation()
def kv_append(case: Case) -> Function:
    page = case.number("page", 0)
    names = [("k", "k_cache"), ("v", "v_cache")]

    def paged(t: Inputs) -> Results:
        batch, tokens = t["k"].shape[:2]
        place = t["lengths"].long()[:, None] + torch.arange(tokens, device=t["k"].device)
        slot = t["table"].long().gather(1, place // page) * page + place % page
        for name, cache in names:
            rows = t[cache].view(-1, *t[cache].shape[2:])
            rows.index_copy_(0, slot.reshape(-1), t[name].reshape(batch * tokens, *t[name].shape[2:]))
        return {cache: t[cache] for _, cache in names}

    def contiguous(t: Inputs) -> Results:
        batch, tokens = t["k"].shape[:2]
        place = t["lengths"].long()[:, None] + torch.arange(tokens, device=t["k"].device)
        sequence = torch.arange(batch, device=t["k"].device)[:, None]
        for name, cache in names:
            t[cache].transpose(1, 2)[sequence, place] = t[name]
        return {cache: t[cache] for _, cache in names}

    return paged if page else contiguous
