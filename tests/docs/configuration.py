#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/configuration.md names what the sources have, and nothing else: python3 tests/docs/configuration.py

Environment variables that C++ and Python read, CMake options, presets, custom targets, and the labels of tests.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from page import root

PAGE = "docs/reference/configuration.md"
READ = re.compile(r'\b(?:getenv|is_set|environment|environ\.get)\(\s*"(KERNELGRADE_\w+)"')
NAMED = re.compile(r'\bconstexpr const char\* k\w*Variable = "(KERNELGRADE_\w+)"')  # read at the uses of the constant
OPTION = re.compile(r"^\s*(?:option\((\w+) |set\((KERNELGRADE_\w+) .*CACHE )", re.MULTILINE)
TARGET = re.compile(r"^\s*add_custom_target\((\w[^\s)]*)", re.MULTILINE)
EXECUTABLE = re.compile(r"\b(?:add_executable|kernelgrade_cost_program)\((kernelgrade-\w+)")
TIERS = re.compile(r"^set\(tiers ([a-z ]+)\)$", re.MULTILINE)


class Sources:
    """What the sources below a folder have. Raises OSError or ValueError where nothing is found."""

    def __init__(self, source: Path) -> None:
        self.source = source

    def _files(self, *endings: str) -> list[str]:
        folders = [self.source / name for name in ("cmake", "kernels", "perf", "tests")]
        files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.name.endswith(endings)]
        return [path.read_text(encoding="utf-8") for path in [*files, *sorted(self.source.glob("CMakeLists.txt"))]]

    def _matches(self, patterns: list[re.Pattern], *endings: str) -> set[str]:
        found = {word for text in self._files(*endings) for each in patterns for match in each.finditer(text) for word in match.groups() if word}
        if not found:
            raise ValueError(f"no file *{', *'.join(endings)} has what looks like {patterns[0].pattern}")
        return found

    def variables(self) -> set[str]:
        return self._matches([READ, NAMED], ".cpp", ".h", ".cu", ".py")

    def options(self) -> set[str]:
        return self._matches([OPTION], "CMakeLists.txt", ".cmake")

    def presets(self) -> set[str]:
        presets = json.loads((self.source / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
        return {preset["name"] for preset in presets if not preset.get("hidden")}

    def targets(self) -> set[str]:
        """By hand one builds the custom targets, but those of tests' inputs. A part ${op} is <op> in the page."""
        found = self._matches([TARGET], "CMakeLists.txt", ".cmake")
        return {re.sub(r"\$\{(\w+)\}", r"<\1>", name) for name in found if not name.endswith("_test_files")}

    def executables(self) -> set[str]:
        return self._matches([EXECUTABLE], "CMakeLists.txt", ".cmake")

    def labels(self) -> set[str]:
        found = TIERS.search((self.source / "tests/house/labels.cmake").read_text(encoding="utf-8"))
        if not found:
            raise ValueError("tests/house/labels.cmake has no set(tiers ...)")
        return set(found.group(1).split())


def section(page: str, heading: str, name: str = PAGE) -> str:
    """Raises ValueError where there is none."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"{name} has no section '{heading}'")
    return found.group(1)


def first_cells(text: str) -> set[str]:
    """The code spans in the first column of a table, up to a '='."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`=]+)[^`]*`", row)}


def compare(kind: str, listed: set[str], there: Iterable[str], may_be: Iterable[str] = ()) -> list[str]:
    """`may_be` is what a page may list, but need not."""
    there = set(there)
    found = [f"{PAGE}: the {kind} `{name}` is missing; add it" for name in sorted(there - listed)]
    return found + [f"{PAGE}: no {kind} `{name}`; delete it" for name in sorted(listed - there - set(may_be))]


def check(source: Path) -> list[str]:
    page = (source / PAGE).read_text(encoding="utf-8")
    sources = Sources(source)
    variables = section(page, "Environment variables")
    presets = section(page, "Presets")
    return [
        *compare("variable", set(re.findall(r"`(KERNELGRADE_\w+)", variables)), sources.variables()),
        *compare("CMake option", first_cells(section(page, "CMake options")), sources.options(), {"CUDNN_ROOT", "CUDNN_FRONTEND_ROOT"}),
        *compare("preset", first_cells(presets), sources.presets()),
        *compare("target", first_cells(section(page, "Targets")), sources.targets(), sources.executables()),
        *compare("label", first_cells(section(page, "Test labels")), sources.labels()),
    ]


def main() -> int:
    try:
        found = check(root())
    except (OSError, ValueError, KeyError) as error:
        found = [str(error)]
    for line in found:
        print(line)
    print(f"{PAGE}: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
