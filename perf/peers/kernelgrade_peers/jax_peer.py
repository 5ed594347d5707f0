# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""JAX: the operations of jax_ops and whole models, compiled ahead of their first call (jax.jit)."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from typing import Any

# Set before JAX reads it. Allocates memory on demand instead of three quarters of the GPU's at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# Like OpenMP's frameworks.
ONE_THREAD = os.environ.get("OMP_NUM_THREADS") == "1"
if ONE_THREAD:
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

from kernelgrade_peers import jax_models
from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops import DTYPES, OPERATIONS
from kernelgrade_peers.jax_ops.operation import Inputs
from kernelgrade_peers.registry import NOT_COMPARED, Solver, Unsupported

jax.config.update("jax_default_matmul_precision", "highest")  # f32 without TF32


def whole_model(case: Case) -> tuple[Callable[[Inputs], Any], jax_models.Finish]:
    computed, finish = jax_models.prepared(case)
    return lambda t: computed(t["weights"], t), finish


def library() -> str:
    return f"jax {jax.__version__} on {jax.default_backend()}, {'1 thread' if ONE_THREAD else 'its own threads'}"


def release() -> None:
    """Forgets what was compiled; throws where the GPU is lost."""
    jax.clear_caches()
    jnp.zeros(()).block_until_ready()


def types_of(case: Case) -> AbstractContextManager[Any]:
    """JAX knows 64 bits where it is told to. Indices need none, and they change the types of everything else."""
    tensors = [*case.outputs.values(), *(each for name, each in case.inputs.items() if name in ("x", "keys", "k"))]
    return jax.enable_x64(True) if {"f64", "i64"} & {each.dtype for each in tensors} else nullcontext()


def read_inputs(case: Case) -> Inputs:
    inputs: Inputs = {
        each.name: jnp.asarray(np.fromfile(case.input_path(each.name), DTYPES[each.dtype]).reshape(each.extents))
        for each in case.inputs.values()
        if each.name not in case.files
    }
    if "weights" in case.files:
        inputs["weights"] = jax.tree.map(jnp.asarray, safetensors.numpy.load(case.input_bytes("weights")))
    return inputs


def prepare(case: Case, name: str) -> Solver:
    if case.op not in OPERATIONS and case.op != "model":
        why = "draws other random numbers" if case.op in NOT_COMPARED else "not implemented"
        raise Unsupported(f"{case.op} in JAX: {why}")
    with types_of(case):
        return prepared(case)


def prepared(case: Case) -> Solver:
    dtypes = {each.name: DTYPES[each.dtype] for each in case.outputs.values()}
    only = next(iter(dtypes))
    inputs = read_inputs(case)
    if case.op == "model":
        function, finish = whole_model(case)
    else:
        operation = OPERATIONS[case.op]
        made, finish = operation.make(case), lambda result, _: result
        inputs = operation.given(case, inputs)

        def function(t: Inputs) -> dict[str, jax.Array]:
            found = made(t)
            return {
                each: result.astype(dtypes[each])
                for each, result in (found if isinstance(found, dict) else {only: found}).items()
            }

    # Inputs that a run updates are donated and returned, like the state of a training loop.
    first = {each: np.array(inputs[each]) for each in case.updated}
    state = {each: inputs.pop(each) for each in case.updated}
    start = perf_counter_ns()
    compiled = jax.jit(lambda state, rest: function(state | rest), donate_argnums=0).lower(state, inputs).compile()
    compile_ns = perf_counter_ns() - start

    def run() -> object:
        result = compiled(state, inputs)
        state.update((each, result[each]) for each in state)
        return result

    def read(result: object) -> dict[str, bytes | memoryview]:
        found = finish(result, inputs)
        arrays = found if isinstance(found, dict) else {only: found}
        return {each: contents(np.asarray(array).astype(dtypes[each])) for each, array in arrays.items()}

    def restore() -> None:
        with types_of(case):
            state.update((each, jnp.asarray(array)) for each, array in first.items())

    return Solver(run, jax.block_until_ready, read, compile_ns, restore)


def contents(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
