# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, its gradient, a step of decoding, and rotary positions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide
from kernelgrade_peers.registry import Unsupported


def implementation(case: Case) -> str:
    """cuDNN's kernels are of 16 bits."""
    fits = case.number("d") == case.number("v", case.number("d"))
    return "cudnn" if jax.default_backend() == "gpu" and case.dtype != "f32" and fits else "xla"


def forward(case: Case) -> Function:
    words, queries, keys, window = case.words(), case.number("q"), case.number("k"), case.number("window", 0)
    if words - {"causal", "bshd"} or {"bias", "key_lengths", "query_offsets"} & set(case.inputs):
        raise Unsupported("attention is supported in full, causal and windowed only")
    how = {"scale": case.scalars["scale"], "implementation": implementation(case)}
    if "causal" in words and queries == keys:
        how |= {"is_causal": True, "local_window_size": (window - 1, 0) if window else None}
    elif "causal" in words:  # the last query sees the last key
        mask = jnp.tri(queries, keys, keys - queries, bool)
        how["mask"] = mask & ~jnp.tri(queries, keys, keys - queries - window, bool) if window else mask

    def attended(t: Inputs) -> jax.Array:
        if "bshd" in words:
            return nn.dot_product_attention(t["q"], t["k"], t["v"], **how)
        return nn.dot_product_attention(*(t[name].swapaxes(1, 2) for name in "qkv"), **how).swapaxes(1, 2)

    return attended


@operation()
def attention(case: Case) -> Function:
    return forward(case)


def with_pull(case: Case, t: Inputs) -> Inputs:
    """The forward pass, which keeps what the backward pass needs."""
    leaves = {name: t[name] for name in "qkv"}
    return {"dout": t["dout"], "pull": jax.jit(lambda t: jax.vjp(forward(case), t)[1])(leaves)}


@operation(given=with_pull)
def attention_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        (found,) = t["pull"](t["dout"])
        return {f"d{name}": each for name, each in found.items()}

    return gradients


@operation()
def attention_decode(case: Case) -> Function:
    queries, keys, page = case.number("q"), case.number("k"), case.number("page", 0)
    tokens_first = "bshd" in case.words()
    seen = jnp.tri(queries, keys, keys - queries, bool)
    after = np.arange(queries - 1, -1, -1)[:, None]  # keys that a query does not see yet

    def cache(t: Inputs, name: str) -> jax.Array:
        if page:  # gathered: JAX cannot read pages
            rows = t[name][t["table"]]
            return rows.reshape(rows.shape[0], -1, *rows.shape[3:])[:, :keys]
        return t[name] if tokens_first else t[name].swapaxes(1, 2)

    def attended(t: Inputs) -> Results:
        q = t["q"] if tokens_first else t["q"].swapaxes(1, 2)
        mask = seen if queries > 1 else None
        if "key_lengths" in t:
            mask = (np.arange(keys) + after < t["key_lengths"][:, None, None])[:, None]
        y = nn.dot_product_attention(
            q, cache(t, "k"), cache(t, "v"), mask=mask, scale=case.scalars["scale"], implementation="xla"
        )
        return y if tokens_first else y.swapaxes(1, 2)

    return attended


@operation()
def rope(case: Case) -> Function:
    words, rotary = case.words(), case.number("r", case.number("d"))
    sign = -1.0 if "back" in words else 1.0

    def turned(t: Inputs) -> Results:
        x = t["x"]
        cosine, sine = (t[name].reshape(-1, 1, rotary // 2) for name in ("cosine", "sine"))
        if "position" in t:
            cosine, sine = cosine[t["position"]], sine[t["position"]]
        sine = sine * sign
        part = wide(x[..., :rotary])
        if "interleaved" in words:
            a, b = part[..., ::2], part[..., 1::2]
            y = jnp.stack([a * cosine - b * sine, b * cosine + a * sine], axis=-1).reshape(part.shape)
        else:
            a, b = jnp.split(part, 2, axis=-1)
            y = jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)
        return jnp.concatenate([y.astype(x.dtype), x[..., rotary:]], axis=-1)

    return turned
