# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations as a user of Jittor would write them; it compiles each by g++ when it first runs."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("use_mkl", "0")  # otherwise it downloads MKL from its makers' server, without asking
if not os.path.exists("/dev/nvidiactl"):
    os.environ.setdefault("nvcc_path", "")  # otherwise it compiles for a GPU that is not present

import jittor as jt
import numpy as np
from jittor import nn

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Solver, Unsupported

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8, "u8": np.uint8}
Inputs = dict[str, Any]
Operation = Callable[[Inputs], Any]


def elementwise(case: Case) -> Operation:
    word = case.shape.split("_")[0]
    functions = {"add": jt.add, "sub": jt.subtract, "mul": jt.multiply, "div": jt.divide}
    return lambda t: functions[word](t["a"], t["b"])


def activation(case: Case) -> Operation:
    functions = {
        "relu": nn.relu,
        "silu": nn.silu,
        "gelu": lambda x: x * (1 + jt.erf(x / 2**0.5)) / 2,  # Jittor's own gelu is the tanh approximation
        "tanh": jt.tanh,
        "sigmoid": jt.sigmoid,
    }
    word = case.shape.rsplit("_n", 1)[0]
    if word not in functions:
        raise Unsupported(f"no {word} here")
    return lambda t: functions[word](t["x"])


def softmax(case: Case) -> Operation:
    return lambda t: nn.softmax(t["x"], dim=-1, log="log" in case.words())


def softmax_sum(case: Case) -> Operation:
    return lambda t: jt.matmul(nn.softmax(t["alpha"], dim=0).reshape(1, -1), t["x"])


def layernorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]

    def normalised(t: Inputs) -> Any:
        centred = t["x"] - t["x"].mean(dim=-1, keepdims=True)
        return centred / jt.sqrt((centred * centred).mean(dim=-1, keepdims=True) + epsilon) * t["gamma"] + t["beta"]

    return normalised


def rmsnorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]
    return lambda t: t["x"] / jt.sqrt((t["x"] * t["x"]).mean(dim=-1, keepdims=True) + epsilon) * t["gamma"]


def reduction(case: Case) -> Operation:
    function = next((word for word in ("max", "min", "mean") if word in case.words()), "sum")
    return lambda t: getattr(jt, function)(t["x"], dim=1)


def transpose(case: Case) -> Operation:
    return lambda t: t["x"].transpose(1, 0)


def cross_entropy(case: Case) -> Operation:
    if case.scalars.get("label_smoothing", 0.0) or case.scalars.get("z_loss", 0.0):
        raise Unsupported("Jittor does not support label smoothing")

    def loss(t: Inputs) -> Any:
        log = nn.log_softmax(t["x"], dim=-1)
        return -jt.gather(log, 1, t["target"].reshape(-1, 1)).reshape(-1)

    return loss


def gemm(case: Case) -> Operation:
    if case.words() - {"nn", "nt", "tn", "tt"} or set(case.inputs) != {"a", "b"} or len(case.outputs) != 1:
        raise Unsupported("gemm does not support an epilogue or TF32")
    layout, batch = case.words().pop(), case.number("b", 1)

    def product(t: Inputs) -> Any:
        a, b = (each.reshape(batch, -1, each.shape[-1]) for each in (t["a"], t["b"]))
        a = a.transpose(0, 2, 1) if layout[0] == "t" else a
        b = b.transpose(0, 2, 1) if layout[1] == "t" else b
        return jt.matmul(a[0], b[0]) if batch == 1 else jt.bmm(a, b)

    return product


def attention(case: Case) -> Operation:
    grouped = case.number("kv", case.number("h")) != case.number("h")
    if case.words() - {"causal"} or set(case.inputs) != {"q", "k", "v"} or "window" in case.shape or grouped:
        raise Unsupported("attention is supported in full and causal only, with one key head per query head")
    queries, keys, scale = case.number("q"), case.number("k"), case.scalars["scale"]
    hidden = np.triu(np.full((queries, keys), -1e30, np.float32), keys - queries + 1)
    mask = jt.array(hidden) if "causal" in case.words() else None

    def heads(t: Inputs) -> Any:
        q, k, v = t["q"], t["k"], t["v"]
        scores = jt.matmul(q, k.transpose(0, 1, 3, 2)) * scale
        return jt.matmul(nn.softmax(scores if mask is None else scores + mask, dim=-1), v)

    return heads


def in_layout(function: Operation, case: Case) -> Operation:
    if "nhwc" not in case.words():
        return function

    def channels_last(t: Inputs) -> Any:
        images = {name: each.transpose(0, 3, 1, 2) if len(each.shape) == 4 else each for name, each in t.items()}
        return function(images).transpose(0, 2, 3, 1)

    return channels_last


def conv2d(case: Case) -> Operation:
    stride, pad = case.number("s"), case.number("p")
    if "separable" in case.words():

        def separable(t: Inputs) -> Any:
            deep = nn.conv2d(t["x"], t["weights"], None, stride, pad, 1, t["x"].shape[1])
            return nn.conv2d(deep, t["mixing"].reshape(*t["mixing"].shape, 1, 1))

        return in_layout(separable, case)
    groups = case.number("g")
    return in_layout(lambda t: nn.conv2d(t["x"], t["weights"], t.get("bias"), stride, pad, 1, groups), case)


def pooling(case: Case) -> Operation:
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))
    if "max" in case.words():
        return in_layout(lambda t: nn.max_pool2d(t["x"], kernel, stride, pad), case)
    return in_layout(lambda t: nn.avg_pool2d(t["x"], kernel, stride, pad, count_include_pad=False), case)


def whole_model(case: Case) -> Any:
    import safetensors.numpy

    from kernelgrade_peers import jittor_models

    return jittor_models.prepared(case, safetensors.numpy.load(case.input_bytes("weights")))


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
    return f"jittor {jt.__version__}, {'CUDA' if jt.flags.use_cuda else 'g++'}"


def prepare(case: Case, name: str) -> Solver:
    if case.op not in OPERATIONS and case.op != "model":
        raise Unsupported(f"{case.op} is not implemented in Jittor")
    unknown = {each.dtype for each in case.inputs.values()} - set(DTYPES)
    if unknown:
        raise Unsupported(f"Jittor has no {', '.join(unknown)}")
    inputs = {
        each.name: jt.array(np.frombuffer(case.input_bytes(each.name), DTYPES[each.dtype]).reshape(each.extents))
        for each in case.inputs.values()
        if each.name not in case.files
    }
    jt.sync_all(True)
    output = next(iter(case.outputs.values()))
    if case.op == "model":
        function, finish = whole_model(case)
    else:
        operation = OPERATIONS[case.op](case)
        function, finish = lambda t: [operation(t)], lambda result, _: result[0]

    def wait(result: Any) -> None:
        jt.sync(result, True)  # evaluation is lazy

    def read(result: Any) -> dict[str, bytes]:
        values = np.ascontiguousarray(finish(result, inputs).numpy())
        return {output.name: values.astype(DTYPES[output.dtype]).tobytes()}

    return Solver(lambda: function(inputs), wait, read)
