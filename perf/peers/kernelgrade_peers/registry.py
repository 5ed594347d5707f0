# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The frameworks that there are, and what each needs."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from kernelgrade_peers.case import Case


class Solver(NamedTuple):
    """A case that is ready to run."""

    run: Callable[[], object]  # computes the case again
    wait: Callable[[object], None]  # waits for a run to finish
    read: Callable[[object], "dict[str, bytes | memoryview]"]  # a run's outputs, by name
    compile_ns: float = 0.0  # compile time, if not part of the first run
    restore: Callable[[], None] = lambda: None  # restores the initial contents of inputs that runs update


class Known(NamedTuple):
    module: str  # provides library() -> str, prepare(case, name) -> Solver, and optionally release(), called after each case
    packages: tuple[str, ...]


PEERS = {
    "torch": Known("kernelgrade_peers.torch_peer", ("torch", "numpy", "safetensors")),
    "torch_compile": Known("kernelgrade_peers.torch_peer", ("torch", "numpy", "safetensors")),
    "jittor": Known("kernelgrade_peers.jittor_peer", ("jittor", "numpy", "safetensors")),
    "jax": Known("kernelgrade_peers.jax_peer", ("jax", "numpy", "safetensors")),
}


# Frameworks draw other random numbers than cuRAND, whose numbers are compared bit by bit.
NOT_COMPARED = ("dropout", "random_fill")


class Unsupported(Exception):
    """The framework has no such operation, or not with these types or extents."""


def known(name: str) -> Known | None:
    """Another framework is a module on PYTHONPATH: of `mine` and `mine_fast` it is kernelgrade_peer_mine."""
    own = f"kernelgrade_peer_{name.partition('_')[0]}"
    return PEERS.get(name) or (Known(own, ()) if importlib.util.find_spec(own) else None)


def load(name: str) -> ModuleType:
    found = known(name)
    assert found, name
    return importlib.import_module(found.module)


def prepare(case: Case, name: str) -> Solver:
    solver: Solver = load(name).prepare(case, name)
    return solver


def problem_with(name: str) -> str:
    """Empty, or why that framework cannot be asked."""
    found = known(name)
    if found is None:
        return f"no peer {name}; there are {', '.join(PEERS)}, and modules kernelgrade_peer_NAME on PYTHONPATH"
    missing = [package for package in found.packages if importlib.util.find_spec(package) is None]
    if missing:
        return f"{name} needs {', '.join(missing)}; {sys.executable} -m pip install {' '.join(missing)}"
    return ""


def list_operations(words: list[str]) -> None:
    """Of a framework, or those among OP,... that it has: `kernelgrade peers --op` takes them."""
    operations = load(words[0]).OPERATIONS
    chosen = words[1].split(",") if len(words) > 1 else sorted(operations)
    print(",".join(op for op in chosen if op in operations))


def main(words: list[str]) -> None:
    problems = [problem for problem in map(problem_with, words[0].split(",")) if problem]
    print("; ".join(problems), end="")
    sys.exit(2 if problems else 0)
