# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalizations and their gradients."""

import jax
import jax.numpy as jnp
from jax import lax

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import DTYPES, Function, Inputs, Results, operation, wide


@operation()
def layernorm(case: Case) -> Function:
    epsilon = case.scalars["epsilon"]

    def normalised(t: Inputs) -> Results:
        x = wide(t["x"])
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred * lax.rsqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + epsilon)
        return scaled * t["gamma"] + t["beta"]

    return normalised


def rms_norm(x: jax.Array, gamma: jax.Array, epsilon: float) -> jax.Array:
    return x * lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + epsilon) * gamma


@operation()
def rmsnorm(case: Case) -> Function:
    return lambda t: rms_norm(wide(t["x"]), t["gamma"], case.scalars["epsilon"])


@operation()
def residual_rmsnorm(case: Case) -> Function:
    def normalised(t: Inputs) -> Results:
        z = t["x"] + t["residual"]
        return {"z": z, "y": rms_norm(wide(z), t["gamma"], case.scalars["epsilon"])}

    return normalised


def mean_of_rows(x: jax.Array) -> jax.Array:
    return x.mean(axis=-1, keepdims=True)


@operation()
def layernorm_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        dy, rstd = wide(t["dy"]), t["rstd"][:, None]
        scaled, gradient = (wide(t["x"]) - t["mean"][:, None]) * rstd, dy * wide(t["gamma"])
        dx = rstd * (gradient - mean_of_rows(gradient) - scaled * mean_of_rows(gradient * scaled))
        return {"dx": dx, "dgamma": (dy * scaled).sum(axis=0), "dbeta": dy.sum(axis=0)}

    return gradients


@operation()
def rmsnorm_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        dy, rstd = wide(t["dy"]), t["rstd"][:, None]
        scaled, gradient = wide(t["x"]) * rstd, dy * wide(t["gamma"])
        dx = rstd * (gradient - scaled * mean_of_rows(gradient * scaled))
        return {"dx": dx, "dgamma": (dy * scaled).sum(axis=0)}

    return gradients


def axes_of(case: Case) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Batch and space, over which a channel's sums go; and where a channel's number is spread from."""
    return ((0, 1), (0, 1)) if "nhwc" in case.words() else ((0, 2), (0, 2))


@operation()
def batchnorm(case: Case) -> Function:
    epsilon, training = case.scalars["epsilon"], "train" in case.words()
    axes, spread = axes_of(case)
    count = case.inputs["x"].size // case.inputs["gamma"].size
    dtype = DTYPES[case.dtype]

    def channel(values: jax.Array) -> jax.Array:
        return jnp.expand_dims(values, spread)

    def normalised(t: Inputs, mean: jax.Array, rstd: jax.Array) -> jax.Array:
        y = (wide(t["x"]) - channel(mean)) * channel(rstd * t["gamma"]) + channel(t["beta"])
        return y.astype(dtype)

    def by_batch(t: Inputs) -> Results:
        x, momentum = wide(t["x"]), case.scalars["momentum"]
        mean = x.mean(axis=axes)
        variance = jnp.square(x - channel(mean)).mean(axis=axes)
        rstd = lax.rsqrt(variance + epsilon)
        return {
            "y": normalised(t, mean, rstd),
            "mean": mean,
            "rstd": rstd,
            "running_mean": (1 - momentum) * t["running_mean"] + momentum * mean,
            "running_variance": (1 - momentum) * t["running_variance"] + momentum * variance * (count / (count - 1)),
        }

    if training:
        return by_batch
    return lambda t: normalised(t, t["running_mean"], lax.rsqrt(t["running_variance"] + epsilon))


@operation()
def batchnorm_backward(case: Case) -> Function:
    axes, spread = axes_of(case)
    count = case.inputs["x"].size // case.inputs["gamma"].size

    def channel(values: jax.Array) -> jax.Array:
        return jnp.expand_dims(values, spread)

    def gradients(t: Inputs) -> Results:
        dy = wide(t["dy"])
        scaled = (wide(t["x"]) - channel(t["mean"])) * channel(t["rstd"])
        dbeta, dgamma = dy.sum(axis=axes), (dy * scaled).sum(axis=axes)
        centred = dy - channel(dbeta / count) - scaled * channel(dgamma / count)
        return {"dx": channel(t["gamma"] * t["rstd"]) * centred, "dgamma": dgamma, "dbeta": dbeta}

    return gradients
