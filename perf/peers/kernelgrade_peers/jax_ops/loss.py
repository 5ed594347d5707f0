# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Losses and their gradients."""

import jax
import jax.numpy as jnp
from jax import nn
from jax.scipy.special import xlogy

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide
from kernelgrade_peers.registry import Unsupported


@operation()
def cross_entropy(case: Case) -> Function:
    if "ignored" in case.words():
        raise Unsupported("ignored rows are not supported")
    smoothing, z = case.scalars["label_smoothing"], case.scalars["z_loss"]

    def loss(t: Inputs) -> Results:
        x = wide(t["x"])
        sums = nn.logsumexp(x, axis=-1)
        right = jnp.take_along_axis(x, t["target"][:, None], axis=-1)[:, 0]
        mean = x.mean(axis=-1) if smoothing else 0.0
        return sums - (1 - smoothing) * right - smoothing * mean + z * jnp.square(sums)

    return loss


@operation()
def cross_entropy_backward(case: Case) -> Function:
    if "ignored" in case.words():
        raise Unsupported("ignored rows are not supported")
    smoothing, z = case.scalars["label_smoothing"], case.scalars["z_loss"]

    def gradient(t: Inputs) -> Results:
        classes, sums = t["x"].shape[1], t["log_sum"][:, None]
        right = (1 - smoothing) * nn.one_hot(t["target"], classes) + smoothing / classes
        return t["dloss"][:, None] * (jnp.exp(wide(t["x"]) - sums) * (1 + 2 * z * sums) - right)

    return gradient


def binary_cross_entropy(x: jax.Array, target: jax.Array) -> jax.Array:
    return jnp.maximum(x, 0) - x * target + jnp.log1p(jnp.exp(-jnp.abs(x)))


@operation()
def pointwise_loss(case: Case) -> Function:
    kind, delta = case.shape.split("_")[0], case.scalars.get("delta", 0.0)

    def huber(x: jax.Array, target: jax.Array) -> jax.Array:
        off = jnp.abs(x - target)
        return jnp.where(off <= delta, off * off / 2, delta * (off - delta / 2))

    def gradient(t: Inputs) -> Results:
        x, target = wide(t["x"]), wide(t["target"])
        match kind:
            case "mse":
                slope = 2 * (x - target)
            case "huber":
                slope = jnp.clip(x - target, -delta, delta)
            case "bce":
                slope = nn.sigmoid(x) - target
            case _:
                slope = -target
        return slope * wide(t["dloss"])

    if "back" in case.words():
        return gradient
    loss = {
        "mse": lambda x, target: jnp.square(x - target),
        "huber": huber,
        "bce": binary_cross_entropy,
        "kl": lambda x, target: xlogy(target, target) - target * x,
    }[kind]
    return lambda t: loss(wide(t["x"]), wide(t["target"]))
