# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, its gradient, a step of decoding, and rotary positions."""

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Unsupported
from kernelgrade_peers.torch_ops.operation import DEVICE, Compile, Function, Inputs, Results, operation, wide


def mask_of(case: Case) -> Tensor | None:
    """True where a query sees a key; none where a kernel needs none."""
    queries, keys, window = case.number("q"), case.number("k"), case.number("window", 0)
    if "causal" not in case.words() or (queries == keys and not window):
        return None
    mask = torch.ones(queries, keys, dtype=torch.bool, device=DEVICE).tril(keys - queries)  # the last query sees all
    return mask.triu(keys - queries - window + 1) if window else mask


def forward(case: Case) -> Function:
    words = case.words()
    if words - {"causal", "bshd"} or {"bias", "key_lengths", "query_offsets"} & set(case.inputs):
        raise Unsupported("attention is supported in full, causal and windowed only")
    scale, tokens_first = case.scalars["scale"], "bshd" in words
    groups = case.number("h") // case.number("kv", case.number("h"))
    mask = mask_of(case)
    causal = "causal" in words and mask is None

    def attended(t: Inputs) -> Tensor:
        q, k, v = (t[name].transpose(1, 2) if tokens_first else t[name] for name in "qkv")
        if groups > 1 and q.dtype == torch.float32:  # no f32 kernel supports grouped heads
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        gqa = k.shape[1] != q.shape[1]
        y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=gqa)
        return y.transpose(1, 2) if tokens_first else y

    return attended


@operation()
def attention(case: Case) -> Function:
    return forward(case)


def attended(case: Case, t: Inputs, compiled: Compile) -> Inputs:
    """The forward pass, which keeps what the backward pass needs."""
    leaves = {name: t[name].detach().requires_grad_() for name in "qkv"}
    return t | leaves | {"attended": compiled(forward(case))(leaves)}


@operation(given=attended, traced=False)
def attention_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        found = torch.autograd.grad(t["attended"], [t[name] for name in "qkv"], t["dout"], retain_graph=True)
        return dict(zip(("dq", "dk", "dv"), found, strict=True))

    return gradients


@operation()
def attention_decode(case: Case) -> Function:
    queries, keys, page, scale = case.number("q"), case.number("k"), case.number("page", 0), case.scalars["scale"]
    groups = case.number("h") // case.number("kv", case.number("h"))
    tokens_first = "bshd" in case.words()
    after = torch.arange(queries - 1, -1, -1, device=DEVICE)[:, None]  # keys that a query does not see yet
    place = torch.arange(keys, device=DEVICE)

    def cache(t: Inputs, name: str) -> Tensor:
        rows = t[name]
        if page:  # PyTorch has no kernel that reads pages
            rows = rows[t["table"]].flatten(1, 2)[:, :keys].transpose(1, 2)
        elif tokens_first:
            rows = rows.transpose(1, 2)
        return rows.repeat_interleave(groups, 1) if groups > 1 and rows.dtype == torch.float32 else rows

    def attended(t: Inputs) -> Results:
        q = t["q"].transpose(1, 2) if tokens_first else t["q"]
        k, v = cache(t, "k"), cache(t, "v")
        mask = None
        if "key_lengths" in t:
            mask = (place + after < t["key_lengths"][:, None, None])[:, None]
        elif queries > 1:
            mask = place + after < keys
        gqa = k.shape[1] != q.shape[1]
        y = F.scaled_dot_product_attention(q, k, v, mask, scale=scale, enable_gqa=gqa)
        return y.transpose(1, 2) if tokens_first else y

    return attended


@operation()
def rope(case: Case) -> Function:
    words, rotary = case.words(), case.number("r", case.number("d"))
    sign = -1.0 if "back" in words else 1.0

    def turned(t: Inputs) -> Results:
        x = t["x"]
        cosine, sine = (t[name].view(-1, 1, rotary // 2) for name in ("cosine", "sine"))
        if "position" in t:
            cosine, sine = cosine[t["position"]], sine[t["position"]]
        sine = sine * sign
        part = wide(x[..., :rotary])
        if "interleaved" in words:
            a, b = part[..., ::2], part[..., 1::2]
            y = torch.stack([a * cosine - b * sine, b * cosine + a * sine], dim=-1).flatten(-2)
        else:
            a, b = part.chunk(2, dim=-1)
            y = torch.cat([a * cosine - b * sine, b * cosine + a * sine], dim=-1)
        y = y.to(x.dtype)
        return torch.cat([y, x[..., rotary:]], dim=-1) if rotary < x.shape[-1] else y

    return turned
