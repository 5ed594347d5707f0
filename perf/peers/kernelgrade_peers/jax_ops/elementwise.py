# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Element by element: arithmetic, activations and their gradients, casts."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import nn

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import DTYPES, Function, Inputs, Results, operation, wide

ARITHMETIC = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide}
ACTIVATIONS = {
    "relu": nn.relu,
    "silu": nn.silu,
    "gelu": partial(nn.gelu, approximate=False),
    "gelutanh": partial(nn.gelu, approximate=True),
    "tanh": jnp.tanh,
    "sigmoid": nn.sigmoid,
}
GATES = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}


@operation()
def elementwise(case: Case) -> Function:
    function = ARITHMETIC[case.shape.split("_")[0]]
    return lambda t: function(t["a"], t["b"])


@operation()
def broadcast(case: Case) -> Function:
    function = ARITHMETIC.get(case.shape.split("_")[0], jnp.add)
    return lambda t: function(t["a"], t["b"])


@operation()
def elementwise_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        dy, a, b = (wide(t[name]) for name in ("dy", "a", "b"))
        if "mul" in case.words():
            return {"da": dy * b, "db": dy * a}
        da = dy / b
        return {"da": da, "db": -da * (a / b)}

    return gradients


@operation()
def axpy(case: Case) -> Function:
    return lambda t: case.scalars["alpha"] * wide(t["x"]) + wide(t["y"])


@operation()
def cast(case: Case) -> Function:
    dtype = DTYPES[case.outputs["y"].dtype]
    if "saturated" not in case.words():
        return lambda t: t["x"].astype(dtype)
    most = float(jnp.finfo(dtype).max)
    return lambda t: jnp.clip(t["x"], -most, most).astype(dtype)


def activation_of(case: Case) -> str:
    return case.shape.rsplit("_n", 1)[0]


@operation()
def activation(case: Case) -> Function:
    function = ACTIVATIONS[activation_of(case)]
    return lambda t: function(wide(t["x"]))


@operation()
def activation_backward(case: Case) -> Function:
    function = ACTIVATIONS[activation_of(case)]
    return lambda t: jax.vjp(function, wide(t["x"]))[1](wide(t["dy"]))[0]


def gelu_of(case: Case) -> str:
    return "gelutanh" if "tanh" in case.words() else "gelu"


@operation()
def bias_gelu(case: Case) -> Function:
    function = ACTIVATIONS[gelu_of(case)]
    return lambda t: function(wide(t["x"]) + wide(t["bias"]))


@operation()
def bias_gelu_backward(case: Case) -> Function:
    function = ACTIVATIONS[gelu_of(case)]

    def gradients(t: Inputs) -> Results:
        _, pull = jax.vjp(lambda x, bias: function(x + bias), wide(t["x"]), wide(t["bias"]))
        dx, dbias = pull(wide(t["dy"]))
        return {"dx": dx, "dbias": dbias}

    return gradients


def gated(case: Case) -> Function:
    function = ACTIVATIONS[GATES[case.shape.split("_")[0]]]

    def product(x: jax.Array) -> jax.Array:
        gate, value = jnp.split(wide(x), 2, axis=-1)
        return function(gate) * value

    return product


@operation()
def gated_activation(case: Case) -> Function:
    product = gated(case)
    return lambda t: product(t["x"])


@operation()
def gated_activation_backward(case: Case) -> Function:
    product = gated(case)
    return lambda t: jax.vjp(product, wide(t["x"]))[1](wide(t["dy"]))[0]
