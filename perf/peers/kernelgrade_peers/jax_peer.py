# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations as a user of JAX would write them, compiled ahead of their first call (jax.jit)."""

import os
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

# Before JAX reads them. Memory as it is needed, and not three quarters of the GPU's at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# As OpenMP's frameworks heed it.
ONE_THREAD = os.environ.get("OMP_NUM_THREADS") == "1"
if ONE_THREAD:
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import safetensors.numpy
from jax import lax, nn

from kernelgrade_peers import jax_models
from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Solver, Unsupported

jax.config.update("jax_default_matmul_precision", "highest")  # f32 is f32, not TF32

DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,  # which JAX stores in 32 bits: indices fit
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
}
Inputs = dict[str, jax.Array]
Operation = Callable[[Inputs], jax.Array]


def elementwise(case: Case) -> Operation:
    function = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide}[case.shape.split("_")[0]]
    return lambda t: function(t["a"], t["b"])


def activation(case: Case) -> Operation:
    functions = {
        "relu": nn.relu,
        "silu": nn.silu,
        "gelu": lambda x: nn.gelu(x, approximate=False),
        "tanh": jnp.tanh,
        "sigmoid": nn.sigmoid,
    }
    word = case.shape.rsplit("_n", 1)[0]
    if word not in functions:
        raise Unsupported(f"there is no {word} here")
    return lambda t: functions[word](t["x"])


def softmax(case: Case) -> Operation:
    function = nn.log_softmax if "log" in case.words() else nn.softmax
    return lambda t: function(t["x"], axis=-1)


def softmax_sum(case: Case) -> Operation:
    return lambda t: nn.softmax(t["alpha"].astype(jnp.float32)) @ t["x"].astype(jnp.float32)


def layernorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]

    def normalised(t: Inputs) -> jax.Array:
        x = t["x"].astype(jnp.float32)
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred * lax.rsqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + epsilon)
        return scaled * t["gamma"] + t["beta"]

    return normalised


def rmsnorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]

    def normalised(t: Inputs) -> jax.Array:
        x = t["x"].astype(jnp.float32)
        return x * lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + epsilon) * t["gamma"]

    return normalised


def reduction(case: Case) -> Operation:
    words = case.words()  # the axis is always the second one
    function = next((f for word, f in (("max", jnp.max), ("min", jnp.min), ("mean", jnp.mean)) if word in words), None)
    return lambda t: (function or jnp.sum)(t["x"], axis=1)


def transpose(case: Case) -> Operation:
    return lambda t: t["x"].T


def cross_entropy(case: Case) -> Operation:
    smoothing, z = case.scalars.get("label_smoothing", 0.0), case.scalars.get("z_loss", 0.0)

    def loss(t: Inputs) -> jax.Array:
        x = t["x"].astype(jnp.float32)
        sums = nn.logsumexp(x, axis=-1)
        right = jnp.take_along_axis(x, t["target"][:, None], axis=-1)[:, 0]
        mean = x.mean(axis=-1) if smoothing else 0.0
        return sums - (1 - smoothing) * right - smoothing * mean + z * jnp.square(sums)

    return loss


def gemm(case: Case) -> Operation:
    if case.words() - {"nn", "nt", "tn", "tt"} or set(case.inputs) != {"a", "b"} or len(case.outputs) != 1:
        raise Unsupported("of gemm the product alone is here, without an epilogue or TF32")
    layout, batch = case.words().pop(), case.number("b", 1)

    def product(t: Inputs) -> jax.Array:
        a, b = (each.reshape(batch, -1, each.shape[-1]) for each in (t["a"], t["b"]))
        return jnp.matmul(a.mT if layout[0] == "t" else a, b.mT if layout[1] == "t" else b)

    return product


def attention(case: Case) -> Operation:
    if case.words() - {"causal"} or set(case.inputs) != {"q", "k", "v"} or "window" in case.shape:
        raise Unsupported("of attention there is the whole and the causal one")
    queries, keys = case.number("q"), case.number("k")
    mask = np.tril(np.ones((queries, keys), bool), keys - queries) if "causal" in case.words() else None

    def heads_first(t: Inputs) -> jax.Array:
        q, k, v = (t[name].swapaxes(1, 2) for name in "qkv")
        result = nn.dot_product_attention(q, k, v, mask=mask, scale=case.scalars["scale"])
        return result.swapaxes(1, 2)

    return heads_first


def _axes(case: Case) -> tuple[str, str, str]:
    """Of images, weights and results."""
    return ("NHWC", "OHWI", "NHWC") if "nhwc" in case.words() else ("NCHW", "OIHW", "NCHW")


def conv2d(case: Case) -> Operation:
    stride, pad, axes = case.number("s"), case.number("p"), _axes(case)

    def convolved(x: jax.Array, weights: jax.Array, stride: int, pad: int, groups: int) -> jax.Array:
        return lax.conv_general_dilated(
            x, weights, (stride, stride), [(pad, pad)] * 2, dimension_numbers=axes, feature_group_count=groups
        )

    if "separable" in case.words():
        channels = case.number("c")

        def separable(t: Inputs) -> jax.Array:
            deep = convolved(t["x"], t["weights"], stride, pad, channels)
            mixing = t["mixing"][:, None, None, :] if axes[1] == "OHWI" else t["mixing"][:, :, None, None]
            return convolved(deep, mixing, 1, 0, 1)

        return separable

    def biased(t: Inputs) -> jax.Array:
        result = convolved(t["x"], t["weights"], stride, pad, case.number("g"))
        if "bias" not in t:
            return result
        return result + (t["bias"] if axes[0] == "NHWC" else t["bias"][:, None, None])

    return biased


def pooling(case: Case) -> Operation:
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))

    def windows(values: tuple[int, int]) -> tuple[int, ...]:
        return (1, *values, 1) if "nhwc" in case.words() else (1, 1, *values)

    sizes, strides = windows((kernel, kernel)), windows((stride, stride))
    pads = [(pad, pad) if extent > 1 or kernel == 1 else (0, 0) for extent in sizes]
    if kernel == 1:
        pads = [(0, 0)] * 4

    def reduced(x: jax.Array, start: float, function: Callable[..., jax.Array]) -> jax.Array:
        return lax.reduce_window(x, np.array(start, x.dtype), function, sizes, strides, pads)

    if "max" in case.words():
        return lambda t: reduced(t["x"], -np.inf, lax.max)

    def average(t: Inputs) -> jax.Array:
        x = t["x"].astype(jnp.float32)
        return reduced(x, 0.0, lax.add) / reduced(jnp.ones_like(x), 0.0, lax.add)

    return average


def whole_model(case: Case) -> tuple[Callable[[Inputs], Any], jax_models.Finish]:
    computed, finish = jax_models.prepared(case)
    return lambda t: computed(t["weights"], t), finish


OPERATIONS = {
    each.__name__: each
    for each in (
        elementwise,
        activation,
        softmax,
        softmax_sum,
        layernorm,
        rmsnorm,
        reduction,
        transpose,
        cross_entropy,
        gemm,
        attention,
        conv2d,
        pooling,
    )
}


def library() -> str:
    return f"jax {jax.__version__} on {jax.default_backend()}, {'1 thread' if ONE_THREAD else 'its own threads'}"


def read_inputs(case: Case) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        each.name: jnp.asarray(np.fromfile(case.input_path(each.name), DTYPES[each.dtype]).reshape(each.extents))
        for each in case.inputs.values()
        if each.name not in case.files
    }
    if "weights" in case.files:
        inputs["weights"] = jax.tree.map(jnp.asarray, safetensors.numpy.load(case.input_bytes("weights")))
    return inputs


def release() -> None:
    """Forgets what was compiled; throws where the GPU is lost."""
    jax.clear_caches()
    jnp.zeros(()).block_until_ready()


def prepare(case: Case, name: str) -> Solver:
    if case.op not in OPERATIONS and case.op != "model":
        raise Unsupported(f"nobody has written {case.op} in JAX here")
    unknown = {each.dtype for each in case.inputs.values()} - set(DTYPES)
    if unknown:
        raise Unsupported(f"{', '.join(unknown)} needs jax_enable_x64, which changes the types of everything else")
    inputs = read_inputs(case)
    output = next(iter(case.outputs.values()))
    dtype = DTYPES[output.dtype]
    if case.op == "model":
        function, finish = whole_model(case)
    else:
        operation = OPERATIONS[case.op](case)
        function, finish = lambda t: operation(t).astype(dtype), lambda result, _: result
    start = perf_counter_ns()
    compiled = jax.jit(function).lower(inputs).compile()
    compile_ns = perf_counter_ns() - start

    def read(result: object) -> dict[str, bytes]:
        return {output.name: np.asarray(finish(result, inputs)).astype(dtype).tobytes()}

    return Solver(lambda: compiled(inputs), jax.block_until_ready, read, compile_ns)
