# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, poolings and their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import DTYPES, Function, Inputs, Results, operation, wide
from kernelgrade_peers.registry import Unsupported


def axes_of(case: Case) -> tuple[str, str, str]:
    """Of images, weights and results."""
    return ("NHWC", "OHWI", "NHWC") if "nhwc" in case.words() else ("NCHW", "OIHW", "NCHW")


def convolved(case: Case, x: jax.Array, weights: jax.Array, stride: int, pad: int, groups: int) -> jax.Array:
    return lax.conv_general_dilated(
        x, weights, (stride, stride), [(pad, pad)] * 2, dimension_numbers=axes_of(case), feature_group_count=groups
    )


@operation()
def conv2d(case: Case) -> Function:
    stride, pad, last = case.number("s"), case.number("p"), "nhwc" in case.words()
    if "separable" in case.words():
        channels = case.number("c")

        def separable(t: Inputs) -> Results:
            deep = convolved(case, t["x"], t["weights"], stride, pad, channels)
            mixing = t["mixing"][:, None, None, :] if last else t["mixing"][:, :, None, None]
            return convolved(case, deep, mixing, 1, 0, 1)

        return separable
    groups = case.number("g")

    def biased(t: Inputs) -> Results:
        result = convolved(case, t["x"], t["weights"], stride, pad, groups)
        if "bias" not in t:
            return result
        return result + (t["bias"] if last else t["bias"][:, None, None])

    return biased


@operation()
def conv2d_backward(case: Case) -> Function:
    if "bias" in case.words():
        axes = (0, 1, 2) if "nhwc" in case.words() else (0, 2, 3)
        return lambda t: wide(t["dy"]).sum(axis=axes)
    how = case.number("s"), case.number("p"), case.number("g")
    of = case.outputs["gradient"]
    like = jax.ShapeDtypeStruct(of.extents, DTYPES[of.dtype])

    def gradient(t: Inputs) -> Results:
        if "weights" in t:
            transposed = jax.linear_transpose(lambda x: convolved(case, x, t["weights"], *how), like)
        else:
            transposed = jax.linear_transpose(lambda weights: convolved(case, t["x"], weights, *how), like)
        return transposed(t["dy"])[0]

    return gradient


def pooled(case: Case) -> Function:
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))
    if "ceil" in case.words():
        raise Unsupported("pooling with a rounded-up number of windows is not supported")

    def windows(values: tuple[int, int]) -> tuple[int, ...]:
        return (1, *values, 1) if "nhwc" in case.words() else (1, 1, *values)

    sizes, strides = windows((kernel, kernel)), windows((stride, stride))
    spatial = case.number("h"), case.number("w")
    pads = [(pad, pad) if extent > 1 else (0, 0) for extent in sizes]

    def reduced(x: jax.Array, start: float, function: Function) -> jax.Array:
        return lax.reduce_window(x, np.array(start, x.dtype), function, sizes, strides, pads)

    if "max" in case.words():
        return lambda x: reduced(x, -np.inf, lax.max)

    def average(x: jax.Array) -> jax.Array:
        ones = jnp.ones(windows(spatial), jnp.float32)
        share = kernel * kernel if "avgpad" in case.words() else reduced(ones, 0.0, lax.add)
        return reduced(wide(x), 0.0, lax.add) / share

    return average


@operation()
def pooling(case: Case) -> Function:
    function = pooled(case)
    return lambda t: function(t["x"])


@operation()
def pooling_backward(case: Case) -> Function:
    function, extents = pooled(case), case.outputs["dx"].extents
    if "max" in case.words():
        return lambda t: jax.vjp(function, wide(t["x"]))[1](wide(t["dy"]))[0]
    like = jax.ShapeDtypeStruct(extents, jnp.float32)
    return lambda t: jax.linear_transpose(function, like)(wide(t["dy"]))[0]
