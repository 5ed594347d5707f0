# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""What moves data, and the gradient of a lookup."""

import jax.numpy as jnp
import numpy as np

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide


@operation()
def copy(case: Case) -> Function:
    return lambda t: jnp.copy(t["x"])


@operation()
def transpose(case: Case) -> Function:
    return lambda t: t["x"].T


@operation()
def permute(case: Case) -> Function:
    rank = len(case.inputs["x"].extents)
    order = [int(digit) for digit in f"{int(case.scalars['order']):0{rank}}"]
    return lambda t: t["x"].transpose(order)


@operation()
def concat(case: Case) -> Function:
    if "whole" in case.outputs:
        return lambda t: jnp.concatenate([t[name] for name in case.inputs], axis=1)
    ends = np.cumsum([each.extents[1] for each in case.outputs.values()])[:-1]
    return lambda t: dict(zip(case.outputs, jnp.split(t["whole"], ends, axis=1), strict=True))


@operation()
def gather(case: Case) -> Function:
    return lambda t: jnp.take(t["table"], t["index"], axis=1, mode="clip")


def as_looked_up(_: Case, t: Inputs) -> Inputs:
    """The rows in the order in which they were looked up, as the forward pass had them."""
    offsets, order = np.asarray(t["offsets"]), np.asarray(t["order"])
    rows = np.empty_like(order)
    rows[order] = np.repeat(np.arange(len(offsets) - 1, dtype=order.dtype), np.diff(offsets))
    return t | {"rows": jnp.asarray(rows)}


@operation(given=as_looked_up)
def embedding_backward(case: Case) -> Function:
    extents = case.outputs["y"].extents
    return lambda t: jnp.zeros(extents, jnp.float32).at[t["rows"]].add(wide(t["x"]))


@operation()
def kv_append(case: Case) -> Function:
    page = case.number("page", 0)
    names = [("k", "k_cache"), ("v", "v_cache")]

    def appended(t: Inputs) -> Results:
        batch, tokens, heads = t["k"].shape[:3]
        place = t["lengths"][:, None] + jnp.arange(tokens)
        if not page:
            sequence, head = jnp.arange(batch)[:, None, None], jnp.arange(heads)
            at = (sequence, head, place[:, :, None])
            return {cache: t[cache].at[at].set(t[name]) for name, cache in names}
        at = jnp.take_along_axis(t["table"], place // page, axis=1), place % page
        return {cache: t[cache].at[at].set(t[name]) for name, cache in names}

    return appended
