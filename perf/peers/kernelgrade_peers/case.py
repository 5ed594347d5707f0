# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of perf/peers/exchange/folder.h: cases to solve, and where their results go."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str
    extents: tuple[int, ...]
    optional: bool

    @property
    def size(self) -> int:
        return math.prod(self.extents)


@dataclass(frozen=True)
class Case:
    folder: Path
    id: str
    op: str
    dtype: str
    shape: str
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    scalars: dict[str, float]
    begins: dict[str, Any]  # the run at the start of its journal; its row has no variant yet

    def tokens(self) -> set[str]:
        """All parts of the shape, names that hold digits among them: {"narrow", "e4m3", "n65536"}."""
        return set(self.shape.split("_"))

    def words(self) -> set[str]:
        """The words of the shape: {"max", "nhwc"} of max_nhwc_n1_c32."""
        return {token for token in self.tokens() if not re.search(r"\d", token)}

    def number(self, key: str, otherwise: int | None = None) -> int:
        """32 of c32."""
        for token in self.shape.split("_"):
            if match := re.fullmatch(rf"{key}(\d+)", token):
                return int(match[1])
        if otherwise is None:
            raise KeyError(f"{self.id}: no {key}")
        return otherwise

    @property
    def files(self) -> set[str]:
        """The inputs that are files of another format: of a model its weights (safetensors) and config.json."""
        return {"weights", "config"} & set(self.inputs) if self.op == "model" else set()

    @property
    def updated(self) -> set[str]:
        """The inputs that a run changes in place: they are outputs, too."""
        return set(self.inputs) & set(self.outputs)

    def input_path(self, name: str) -> Path:
        return self.folder / "inputs" / self.id / name

    def input_bytes(self, name: str) -> bytes:
        return self.input_path(name).read_bytes()

    def write(self, variant: str, time: str, outputs: "dict[str, bytes | memoryview]") -> None:
        folder = self.folder / "results" / variant / self.id / time
        folder.mkdir(parents=True)
        for name, contents in outputs.items():
            (folder / name).write_bytes(contents)


def _tensors(entries: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {
        each["name"]: Tensor(each["name"], each["dtype"], tuple(each["extents"]), each["optional"]) for each in entries
    }


def read_cases(folder: Path) -> dict[str, Case]:
    entries = json.loads((folder / "cases.json").read_text())["cases"]
    return {
        each["case"]: Case(
            folder,
            each["case"],
            each["op"],
            each["dtype"],
            each["shape"],
            _tensors(each["inputs"]),
            _tensors(each["outputs"]),
            each["scalars"],
            each["begins"],
        )
        for each in entries
    }
