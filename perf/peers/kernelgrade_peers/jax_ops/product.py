# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

import jax
import jax.numpy as jnp
from jax import lax

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.elementwise import ACTIVATIONS, gelu_of
from kernelgrade_peers.jax_ops.operation import DTYPES, Function, Inputs, Results, operation, wide
from kernelgrade_peers.registry import Unsupported

LAYOUTS = {"nn", "nt", "tn", "tt"}
ROUTES = {"wide", "split"}  # selects our kernel
EPILOGUES = {"acc", "bias", "relu", "gelu", "tanh", "z", "dgelu", "drelu", "dbias", "a", "b"}


@operation()
def gemm(case: Case) -> Function:
    words, batch = case.words(), case.number("b", 1)
    if unknown := words - LAYOUTS - ROUTES - EPILOGUES:
        raise Unsupported(f"gemm does not support {', '.join(sorted(unknown))}")
    layout = (words & LAYOUTS).pop()
    precision = lax.Precision.DEFAULT if "tf32" in case.tokens() else None
    function = ACTIVATIONS["relu" if {"relu", "drelu"} & words else gelu_of(case)]
    dtype = DTYPES[case.dtype]

    def product(t: Inputs) -> Results:
        a, b = (each.reshape(batch, -1, each.shape[-1]) for each in (t["a"], t["b"]))
        a, b = a.mT if layout[0] == "t" else a, b.mT if layout[1] == "t" else b
        z = jnp.matmul(a, b, precision=precision, preferred_element_type=jnp.float32)
        if "c0" in t:
            z += wide(t["c0"]).reshape(z.shape)
        if "bias" in t:
            z += wide(t["bias"])
        c = function(z) if {"relu", "gelu"} & words else z
        if "z" in case.inputs:  # the gradient of the activation
            c = jax.vjp(function, wide(t["z"]).reshape(z.shape))[1](z)[0]
        results = {"c": c.astype(dtype)} | ({"z": z} if "z" in case.outputs else {})
        if "dbias" in case.outputs:
            of_b = wide(b).sum(axis=-2) if "b" in words else wide(results["c"]).sum(axis=-2)
            results["dbias"] = wide(a).sum(axis=-1) if "a" in words else of_b
        return results

    return product


def weights_of(t: Inputs) -> jax.Array:
    """Of groups with a scale each; of 4 bits two in a byte, as their values plus 8, the first in the lower half."""
    w, scale = t["w"], wide(t["scale"])
    if t["x"].shape[1] == 2 * w.shape[1]:
        bits = lax.bitcast_convert_type(w, jnp.uint8)
        w = jnp.stack([bits & 15, bits >> 4], axis=-1).astype(jnp.int8) - 8
    return (w.reshape(*scale.shape, -1) * scale[..., None]).reshape(len(scale), -1)


@operation()
def quantised_matmul(case: Case) -> Function:
    if "scale" in case.inputs:
        return lambda t: wide(t["x"]) @ weights_of(t).T

    def scaled(t: Inputs) -> Results:
        exact = jnp.int32 if t["w"].dtype == jnp.int8 else jnp.float32
        sums = lax.dot_general(t["x8"], t["w"], (((1,), (1,)), ((), ())), preferred_element_type=exact)
        return wide(sums) * t["x_scale"][:, None] * t["w_scale"]

    return scaled
