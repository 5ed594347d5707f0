# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Scans, sorts, selections and counts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide
from kernelgrade_peers.registry import Unsupported

BITS = {8: jnp.int64, 4: jnp.int32, 2: jnp.int16, 1: jnp.int8}


def bits(x: jax.Array) -> jax.Array:
    return lax.bitcast_convert_type(x, BITS[x.dtype.itemsize])


def begins(t: Inputs, n: int) -> jax.Array:
    """Whether a segment begins with an element."""
    if "heads" in t:
        return t["heads"] != 0
    return jnp.zeros(n, bool).at[t["offsets"]].set(True, mode="drop")


@operation()
def scan(case: Case) -> Function:
    words, n, integers = case.words(), case.inputs["x"].extents[0], case.dtype == "i32"
    combine = jnp.maximum if "max" in words else jnp.add
    nothing = (np.iinfo(np.int32).min if integers else -np.inf) if "max" in words else 0

    def scanned(t: Inputs) -> Results:
        x = t["x"] if integers or "max" in words else wide(t["x"])
        first = begins(t, n) if {"heads", "offsets"} & set(t) else None
        if "exclusive" in words:
            x = jnp.concatenate([jnp.full(1, nothing, x.dtype), x[:-1]])
            x = x if first is None else jnp.where(first, jnp.asarray(nothing, x.dtype), x)
        if first is None:
            return lax.cummax(x) if "max" in words else lax.cumsum(x)

        def segmented(a: tuple[jax.Array, jax.Array], b: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return a[0] | b[0], jnp.where(b[0], b[1], combine(a[1], b[1]))

        return lax.associative_scan(segmented, (first, x))[1]

    return scanned


@operation()
def sort(case: Case) -> Function:
    n = case.inputs["keys"].extents[0]
    names = [name for name in ("keys", "values") if name in case.inputs]
    if "descending" in case.words() or case.number("begin", 0) or case.number("end", 0):
        raise Unsupported("lax.sort is ascending, and compares all bits of a key")

    def ordered(t: Inputs) -> Results:
        operands = [t[name] for name in names]
        if "offsets" in t:
            operands.insert(0, jnp.cumsum(jnp.zeros(n, jnp.int32).at[t["offsets"]].add(1, mode="drop")))
        found = lax.sort(operands, num_keys=1 + ("offsets" in t), is_stable=True)[-len(names) :]
        return {f"sorted_{name}": each for name, each in zip(names, found, strict=True)}

    return ordered


@operation()
def top_k(case: Case) -> Function:
    k = case.number("k")
    return lambda t: dict(zip(("values", "indices"), lax.top_k(t["x"], k), strict=True))


@operation()
def histogram(case: Case) -> Function:
    bins, lower, upper = case.number("bins"), case.scalars["lower"], case.scalars["upper"]

    def counted(t: Inputs) -> Results:
        if case.dtype == "f32":
            x, inside = t["x"], (t["x"] >= lower) & (t["x"] < upper)
            place = jnp.minimum(jnp.floor((x - lower) * np.float32(bins / (upper - lower))).astype(jnp.int32), bins - 1)
        else:
            x = t["x"].astype(jnp.int32) - int(lower)
            inside, place = (x >= 0) & (x < int(upper - lower)), x // (int(upper - lower) // bins)
        return jnp.bincount(jnp.where(inside, place, bins), length=bins + 1)[:bins]

    return counted


def changes(x: jax.Array) -> jax.Array:
    """Whether an element's bits are other ones than those of the element before it."""
    return jnp.concatenate([jnp.ones(1, bool), bits(x)[1:] != bits(x)[:-1]])


@operation()
def select(case: Case) -> Function:
    n = case.inputs["x"].extents[0]

    def kept(t: Inputs) -> Results:
        wanted = t["flags"] != 0 if "flags" in t else changes(t["x"])
        return {"count": wanted.sum(dtype=jnp.int32)[None], "y": t["x"][jnp.nonzero(wanted, size=n)[0]]}

    return kept


@operation()
def reduce_by_key(case: Case) -> Function:
    n = case.inputs["keys"].extents[0]
    kind = case.shape.split("_")[0]
    segment = {"sum": jax.ops.segment_sum, "min": jax.ops.segment_min, "max": jax.ops.segment_max}.get(kind)

    def reduced(t: Inputs) -> Results:
        first = changes(t["keys"])
        place = jnp.nonzero(first, size=n)[0]
        if segment:
            results = segment(t["values"], jnp.cumsum(first) - 1, num_segments=n, indices_are_sorted=True)
        else:
            results = t["values"][place]
        return {"count": first.sum(dtype=jnp.int32)[None], "unique": t["keys"][place], "results": results}

    return reduced
