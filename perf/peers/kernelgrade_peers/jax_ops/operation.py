# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""How an operation is written in JAX, and those that are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from kernelgrade_peers.case import Case

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "i64": np.int64,  # stored by JAX in 32 bits by default: indices fit
    "i32": np.int32,
    "i8": np.int8,
    "u32": np.uint32,
    "u8": np.uint8,
}
Inputs = dict[str, Any]  # arrays, and what a forward pass saves
Results = jax.Array | dict[str, jax.Array]  # by name if there are several; missing ones are optional
Function = Callable[[Inputs], Results]
Given = Callable[[Case, Inputs], Inputs]


class Operation(NamedTuple):
    make: Callable[[Case], Function]
    given: Given


OPERATIONS: dict[str, Operation] = {}


def as_they_are(_: Case, t: Inputs) -> Inputs:
    return t


def operation(given: Given = as_they_are) -> Callable[..., Any]:
    """Adds a function of this name. `given`, untimed: the inputs as JAX's own forward pass leaves them."""

    def add(make: Callable[[Case], Function]) -> Callable[[Case], Function]:
        OPERATIONS[make.__name__] = Operation(make, given)
        return make

    return add


def wide(x: jax.Array) -> jax.Array:
    return x.astype(jnp.float32)
