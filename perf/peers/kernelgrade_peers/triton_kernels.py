# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels in Triton, as PTX for `kernelgrade try`: compiling them needs no GPU.

    python -m kernelgrade_peers triton FOLDER [--arch 80]

writes of each kernel NAME.ptx and NAME.arguments, whose lines are the arguments of `kernelgrade try`.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

WARP = 32


@triton.jit
def vector_add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)


@triton.jit
def relu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside)
    tl.store(y + i, tl.where(value < 0, 0.0, value), mask=inside)


@triton.jit
def matmul(a, b, c, alpha, beta, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)
    columns = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)
    depth = tl.arange(0, K).to(tl.int64)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, k, K):
        inner = at + depth
        left = tl.load(
            a + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0
        )
        right = tl.load(
            b + inner[:, None] * n + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0
        )
        sums = tl.dot(left, right, sums, input_precision="ieee")  # not TF32, which rounds the factors
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    place = c + rows[:, None] * n + columns[None, :]
    result = alpha * sums
    if beta != 0:
        result += beta * tl.load(place, mask=inside)
    tl.store(place, result, mask=inside)


@triton.jit
def softmax_sum(x, alpha, y, terms, n, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    term = tl.arange(0, TERMS)
    logits = tl.load(alpha + term, mask=term < terms, other=float("-inf"))
    weights = tl.exp(logits - tl.max(logits))
    total = tl.sum(weights)
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, terms):
        weight = tl.sum(tl.where(term == at, weights, 0.0)) / total
        sums += weight * tl.load(x + at * n + i, mask=i < n, other=0.0)
    tl.store(y + i, sums, mask=i < n)


@triton.jit
def max_pooling(
    x,
    y,
    h,
    w,
    out_h,
    out_w,
    kernel_h,
    kernel_w,
    stride_h,
    stride_w,
    top,
    left,
    dilation_h,
    dilation_w,
    BLOCK: tl.constexpr,
):
    """NCHW; a program has pixels of one channel."""
    plane = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < out_h * out_w
    row, column = i // out_w * stride_h - top, i % out_w * stride_w - left
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for r in range(0, kernel_h):
        for s in range(0, kernel_w):
            at_h, at_w = row + r * dilation_h, column + s * dilation_w
            there = inside & (at_h >= 0) & (at_h < h) & (at_w >= 0) & (at_w < w)
            value = tl.load(x + plane * h * w + at_h * w + at_w, mask=there, other=float("-inf"))
            best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y + plane * out_h * out_w + i, best, mask=inside)


@triton.jit
def separable_convolution(
    x, weights, mixing, y, c, h, w, mixed, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, top, left,
    dilation_h, dilation_w, OUT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """NCHW; each channel by its own taps, then channels mixed: a program has pixels of OUT of these."""
    image = tl.program_id(2).to(tl.int64)
    out = tl.program_id(1).to(tl.int64) * OUT + tl.arange(0, OUT)
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < out_h * out_w
    row, column = i // out_w * stride_h - top, i % out_w * stride_w - left
    sums = tl.zeros((OUT, BLOCK), dtype=tl.float32)
    for channel in range(0, c):
        deep = tl.zeros((BLOCK,), dtype=tl.float32)
        for r in range(0, kernel_h):
            for s in range(0, kernel_w):
                at_h, at_w = row + r * dilation_h, column + s * dilation_w
                there = inside & (at_h >= 0) & (at_h < h) & (at_w >= 0) & (at_w < w)
                value = tl.load(x + (image * c + channel) * h * w + at_h * w + at_w, mask=there, other=0.0)
                deep += value * tl.load(weights + (channel * kernel_h + r) * kernel_w + s)
        sums += tl.load(mixing + out * c + channel, mask=out < mixed, other=0.0)[:, None] * deep[None, :]
    place = y + (image * mixed + out[:, None]) * out_h * out_w + i[None, :]
    tl.store(place, sums, mask=(out[:, None] < mixed) & inside[None, :])


class Kernel(NamedTuple):
    function: Any
    of: str  # the operation's function that it implements
    constants: dict[str, int]
    grid: str
    arguments: str  # in terms of that function's parameters
    shape: str = ""  # the shape for counting costs, if the operation lists none for this function


EXTENT = "(({0} + pad_{1} + pad_{2} - dilation_{3} * (kernel_{3} - 1) - 1) / stride_{3} + 1)"
OUT_H, OUT_W = EXTENT.format("h", "top", "bottom", "h"), EXTENT.format("w", "left", "right", "w")
WINDOW = "kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w"
KERNELS = [
    Kernel(vector_add, "elementwise_add_f32", {"BLOCK": 1024}, "(n + 1023) / 1024", "a, b, out, n"),
    Kernel(relu, "activation_relu_f32", {"BLOCK": 1024}, "(n + 1023) / 1024", "x, y, n"),
    Kernel(
        matmul, "gemm_nn_f32", {"M": 32, "N": 32, "K": 32}, "(m + 31) / 32, (n + 31) / 32",
        "a, b, c, alpha, beta, m, n, k",
    ),
    Kernel(softmax_sum, "softmax_sum_f32", {"TERMS": 64, "BLOCK": 512}, "(n + 511) / 512", "x, alpha, y, k, n"),
    Kernel(
        max_pooling, "pooling_max_nchw_f32", {"BLOCK": 256}, "(out_h * out_w + 255) / 256, n * c",
        f"x, y, h, w, out_h, out_w, {WINDOW}", "max_nchw_n1_c32_h32_w32_k3_s2_p1",
    ),
    Kernel(
        separable_convolution, "conv2d_separable_nchw_f32", {"OUT": 16, "BLOCK": 64},
        f"({OUT_H} * {OUT_W} + 63) / 64, (mixed + 15) / 16, n",
        f"x, weights, mixing, y, c, h, w, mixed, {OUT_H}, {OUT_W}, {WINDOW}",
    ),
]  # fmt: skip
POINTERS = {"a", "b", "c", "x", "y", "out", "alpha", "weights", "mixing"}


def types_of(kernel: Kernel) -> dict[str, str]:
    types = {}
    for parameter, argument in zip(kernel.function.arg_names, kernel.arguments.split(", "), strict=False):
        if kernel.function is matmul and parameter in ("alpha", "beta"):
            types[parameter] = "fp32"
        else:
            pointer = argument in POINTERS and (argument != "c" or kernel.function is matmul)
            types[parameter] = "*fp32" if pointer else "i64"
    return types | dict.fromkeys(kernel.constants, "constexpr")


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="kernelgrade-peers triton")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", type=int, default=80)
    options = parser.parse_args(words)
    options.folder.mkdir(parents=True, exist_ok=True)
    for kernel in KERNELS:
        source = ASTSource(fn=kernel.function, signature=types_of(kernel), constexprs=kernel.constants)
        compiled = triton.compile(source, target=GPUTarget("cuda", options.arch, WARP))
        name, meta = kernel.function.__name__, compiled.metadata
        (options.folder / f"{name}.ptx").write_text(compiled.asm["ptx"])
        lines = {
            "function": kernel.of,
            "grid": kernel.grid,
            "block": meta.num_warps * WARP,
            "shared": meta.shared,
            "arguments": f"{kernel.arguments}, nullptr, nullptr",  # scratch, unused by these kernels
        }
        if kernel.shape:
            lines["shape"] = kernel.shape
        text = "".join(f"--{option}\n{value}\n" for option, value in lines.items())
        (options.folder / f"{name}.arguments").write_text(text)
        print(name)
