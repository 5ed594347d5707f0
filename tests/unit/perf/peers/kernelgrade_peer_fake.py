# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Softmax, sums of arrays and an mlp, by frameworks that behave as their names say."""

import json
import math
import os
import signal
import struct
import time
from collections.abc import Callable

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Solver, Unsupported


lost = False  # the device, as a kernel of fake_lost leaves it


def library() -> str:
    return "fake 1.0"


def release() -> None:
    if lost:
        raise RuntimeError("the device is lost")


def softmax(values: list[float], cols: int) -> list[float]:
    result: list[float] = []
    for at in range(0, len(values), cols):
        exponentials = [math.exp(value) for value in values[at : at + cols]]
        total = sum(exponentials)
        result += [each / total for each in exponentials]
    return result


def floats(contents: bytes | bytearray) -> list[float]:
    return list(struct.unpack(f"<{len(contents) // 4}f", contents))


def mlp(case: Case) -> Callable[[], list[float]]:
    """Linear layers with a gelu behind each, of a safetensors file: its header's length, its header, its arrays."""
    file = case.input_bytes("weights")
    arrays = 8 + int.from_bytes(file[:8], "little")
    weights = {
        name: floats(file[arrays + each["data_offsets"][0] : arrays + each["data_offsets"][1]])
        for name, each in json.loads(file[8:arrays]).items()
    }
    x, dim = floats(case.input_bytes("x")), case.number("dim")

    def layer(number: int, row: list[float]) -> list[float]:
        w, bias = weights[f"layers.{number}.weight"], weights[f"layers.{number}.bias"]
        sums = [bias[i] + sum(a * b for a, b in zip(w[i * dim : (i + 1) * dim], row, strict=True)) for i in range(dim)]
        return [y * (1 + math.erf(y / math.sqrt(2))) / 2 for y in sums]

    def run() -> list[float]:
        rows = [x[at : at + dim] for at in range(0, len(x), dim)]
        for number in range(case.number("layers")):
            rows = [layer(number, row) for row in rows]
        return [y for row in rows for y in row]

    return run


def prepare(case: Case, name: str) -> Solver:
    if name == "fake_unsupported":
        raise Unsupported(f"no {case.op} here")
    if "losses" in case.outputs:  # it learns nothing

        def compute() -> list[float]:
            return [1.0] * case.outputs["losses"].extents[0]
    elif case.op == "model":
        compute = mlp(case)
    elif case.op == "elementwise":
        pairs = list(zip(floats(case.input_bytes("a")), floats(case.input_bytes("b")), strict=True))

        def compute() -> list[float]:
            return [a + b for a, b in pairs]
    else:
        values = floats(case.input_bytes("x"))
        cols = case.inputs["x"].extents[1]

        def compute() -> list[float]:
            return softmax(values, cols)

    right = next(iter(case.outputs))
    calls = 0

    def restore() -> None:
        nonlocal calls
        calls = 0

    def run() -> list[float]:
        nonlocal calls
        global lost
        calls += 1
        if name == "fake_lost" and "cols512" in case.tokens():
            lost = True
        if lost:
            raise RuntimeError("an illegal address")
        if name == "fake_crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if name == "fake_hang":
            time.sleep(3600)
        if name == "fake_throws":
            raise MemoryError("no memory")
        result = compute()
        if name == "fake_wrong" or (name in ("fake_later", "fake_updates") and calls > 1):  # right at first alone
            result[3] *= 1.01
        return result[:-1] if name == "fake_short" else result

    def read(result: object) -> dict[str, bytes]:
        assert isinstance(result, list)
        output = "z" if name == "fake_misnamed" else right
        return {output: struct.pack(f"<{len(result)}f", *result)}

    return Solver(run, lambda _: None, read, restore=restore if name == "fake_updates" else lambda: None)
