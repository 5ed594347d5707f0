# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Softmaxes and reductions: along the rows of a matrix, or an axis of a tensor."""

import jax.numpy as jnp
from jax import lax, nn

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide


@operation()
def softmax(case: Case) -> Function:
    function = nn.log_softmax if "log" in case.words() else nn.softmax
    return lambda t: function(wide(t["x"]), axis=-1)


@operation()
def softmax_backward(case: Case) -> Function:
    def gradient(t: Inputs) -> Results:
        y, dy = wide(t["y"]), wide(t["dy"])
        if "log" in case.words():
            return dy - jnp.exp(y) * dy.sum(axis=-1, keepdims=True)
        return y * (dy - (y * dy).sum(axis=-1, keepdims=True))

    return gradient


@operation()
def masked_softmax(case: Case) -> Function:
    scale, (rows, cols) = case.scalars["scale"], case.inputs["x"].extents
    queries = int(case.scalars.get("queries", rows))

    def masked(t: Inputs) -> Results:
        x = wide(t["x"]).reshape(-1, queries, cols)
        if "keep" in t:
            seen = (t["keep"] != 0).reshape(x.shape)
        else:
            seen = jnp.arange(cols) <= jnp.arange(queries)[:, None] + cols - queries
        return nn.softmax(jnp.where(seen, x * scale, -jnp.inf), axis=-1)

    return masked


@operation()
def softmax_sum(case: Case) -> Function:
    return lambda t: nn.softmax(wide(t["alpha"])) @ wide(t["x"])


@operation()
def softmax_sum_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        weights, dy = nn.softmax(wide(t["alpha"])), wide(t["dy"])
        sums = wide(t["x"]) @ dy
        return {"dx": jnp.outer(weights, dy), "dalpha": weights * (sums - weights @ sums)}

    return gradients


@operation()
def reduction(case: Case) -> Function:
    words = case.words()  # the axis is always the second one
    function = next((f for word, f in (("max", jnp.max), ("min", jnp.min), ("mean", jnp.mean)) if word in words), None)
    return lambda t: (function or jnp.sum)(t["x"], axis=1)


@operation()
def reduction_backward(case: Case) -> Function:
    words, extents = case.words(), case.outputs["dx"].extents
    if "max" in words or "min" in words:
        place = jnp.argmax if "max" in words else jnp.argmin

        def selected(t: Inputs) -> Results:
            first = place(t["x"], axis=1, keepdims=True)
            axis = lax.broadcasted_iota(first.dtype, extents, 1)
            return jnp.where(axis == first, t["dy"][:, None], 0)

        return selected
    share = extents[1] if "mean" in words else 1
    return lambda t: jnp.broadcast_to((wide(t["dy"]) / share)[:, None], extents)


@operation()
def argmax(case: Case) -> Function:
    return lambda t: jnp.argmax(t["x"], axis=1)
