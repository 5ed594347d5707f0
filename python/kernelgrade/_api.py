# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""`kernelgrade check` and `kernelgrade try` as functions: they run the program and read its JSON."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version as _version_of
from pathlib import Path
from typing import Any, Union

PathLike = Union[str, "os.PathLike[str]"]

try:
    version: str = _version_of("kernelgrade")
except PackageNotFoundError:  # the package of a source tree, on PYTHONPATH
    version = "unknown"


class Error(RuntimeError):
    """The program gave no verdict: usage error, or the source does not compile. Its output is the message."""


@dataclass(frozen=True)
class Place:
    """A line of a source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Finding:
    """What the checkers found. `fails` is False for a note, as of memory that is never freed."""

    rule: str
    fails: bool
    kernel: str
    text: str
    hint: str
    places: tuple[Place, ...]


class CheckFailed(Error):
    """The program failed (exit code, signal, time limit, no launch) without a finding that fails. `findings`: the notes."""

    def __init__(self, failure: str, findings: list[Finding]) -> None:
        super().__init__(failure)
        self.findings = findings


@dataclass(frozen=True)
class Run:
    """The contract of an operation, run for one type in one way. `broken` says why it did not end."""

    dtype: str
    how: str
    passed: bool
    broken: str


@dataclass(frozen=True)
class Verdict:
    """What `kernelgrade try` says of a kernel. `document` is its whole JSON."""

    op: str
    passed: bool
    runs: tuple[Run, ...]
    document: dict[str, Any]


def program(name: str) -> Path:
    """A program of the package, by its name. Raises FileNotFoundError."""
    path = Path(__file__).parent / "bin" / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: install the wheel again (pip install --force-reinstall kernelgrade)")
    return path


def check(
    sources: PathLike | Sequence[PathLike],
    *,
    arguments: Sequence[str] = (),
    include: Sequence[PathLike] = (),
    define: Sequence[str] = (),
    compile_options: Sequence[str] = (),
    orders: Sequence[str] = (),
    timeout: int = 600,
) -> list[Finding]:
    """Runs a CUDA program, given by its sources, under the checkers.

    arguments: of the program. define: macros, as "N=1024". orders: of the threads, "forward", "reverse" or "random:SEED".
    timeout: seconds, of each run.
    Raises CheckFailed where the program itself failed, and Error where it does not compile or an argument is wrong.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    words = [os.fspath(source) for source in sources]
    for folder in include:
        words += ["-I", os.fspath(folder)]
    for macro in define:
        words += ["-D", macro]
    words += [f"--compile={option}" for option in compile_options]
    words += [f"--order={order}" for order in orders]
    words.append(f"--timeout={timeout}")
    document = _run("check", words, list(arguments))
    findings = [
        Finding(
            rule=one["rule"],
            fails=one["fails"],
            kernel=one["kernel"],
            text=one["text"],
            hint=one["hint"],
            places=tuple(Place(**place) for place in one["places"]),
        )
        for one in document["findings"]
    ]
    if document["failure"] and not any(finding.fails for finding in findings):  # with findings the exit code follows from them
        raise CheckFailed(document["failure"], findings)
    return findings


def try_(
    op: str,
    source: PathLike,
    *,
    dtypes: Sequence[str] = (),
    without: Sequence[str] = (),
    compile_options: Sequence[str] = (),
) -> Verdict:
    """Judges a kernel for an operation of the suite (`kernelgrade list` names them) by the operation's contract.

    dtypes: those to judge, by default all that the source defines. without: tests of the contract that it does not claim to pass.
    Raises Error where it does not compile, defines no function of the operation, or an argument is wrong.
    """
    words = [op, os.fspath(source)]
    words += [f"--dtype={dtype}" for dtype in dtypes]
    words += [f"--without={test}" for test in without]
    words += [f"--compile={option}" for option in compile_options]
    document = _run("try", words, None)
    runs = tuple(
        Run(dtype=run["dtype"], how=run["how"], passed=run["passed"], broken=run["broken"]) for run in document["runs"]
    )
    return Verdict(op=document["op"], passed=document["passed"], runs=runs, document=document)


def _run(command: str, words: list[str], arguments: list[str] | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "verdict.json"
        line = [str(program("kernelgrade")), command, *words, "--json", str(file)]
        if arguments is not None:
            line += ["--", *arguments]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode not in (0, 1) or not file.is_file() or not file.stat().st_size:
            raise Error(done.stdout.strip())
        document = json.loads(file.read_text())
    if document["schema"] != 1:
        raise Error(f"schema {document['schema']} of {command} --json is not known to kernelgrade {version}")
    if document["passed"] != (done.returncode == 0):
        raise Error(f"exit code {done.returncode} contradicts the verdict:\n{done.stdout.strip()}")
    return document
