# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Softmax by frameworks that behave as their names say."""

import math
import os
import signal
import struct
import time

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Solver, Unsupported


def library() -> str:
    return "fake 1.0"


def softmax(values: list[float], cols: int) -> list[float]:
    result: list[float] = []
    for at in range(0, len(values), cols):
        exponentials = [math.exp(value) for value in values[at : at + cols]]
        total = sum(exponentials)
        result += [each / total for each in exponentials]
    return result


def prepare(case: Case, name: str) -> Solver:
    if name == "fake_unsupported":
        raise Unsupported("there is no softmax here")
    contents = case.input_bytes("x")
    values = list(struct.unpack(f"<{len(contents) // 4}f", contents))
    cols = case.inputs["x"].extents[1]
    calls = 0

    def run() -> list[float]:
        nonlocal calls
        calls += 1
        if name == "fake_crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if name == "fake_hang":
            time.sleep(3600)
        if name == "fake_throws":
            raise MemoryError("no memory")
        result = softmax(values, cols)
        if name == "fake_wrong" or (name == "fake_later" and calls > 1):  # right at first alone
            result[3] *= 1.01
        return result[:-1] if name == "fake_short" else result

    def read(result: object) -> dict[str, bytes]:
        assert isinstance(result, list)
        output = "z" if name == "fake_misnamed" else "y"
        return {output: struct.pack(f"<{len(result)}f", *result)}

    return Solver(run, lambda _: None, read)
